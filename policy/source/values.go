package source

import (
	"math"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeUnknownField = diag.Define("HK006", diag.Error, "unknown key")
var codeWord = diag.Define("HK008", diag.Error, "unknown word")
var codeRange = diag.Define("HK009", diag.Error, "number out of range")

// MaxDuration bounds every duration of a policy.
const MaxDuration = 24 * time.Hour

// fields reads the values of one map by the rows of the schema.
type fields struct {
	l     *Loader
	in    *File
	place Place
	node  *tree.Node
}

// fields checks the keys of n against a place and, for hooks, a kind. Unknown
// keys are reported unless the kind is builtin, which has keys of its own.
func (l *Loader) fields(in *File, n *tree.Node, p Place, kind policy.Kind) fields {
	f := fields{l, in, p, n}
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		row := FindKey(p, name)
		switch {
		case row != nil && row.takes(kind) || kind == policy.KindBuiltin:
		case row != nil:
			l.Report(in, codeConflict.Report(e.Key.Span, "%q is a key of %s hooks; this one is %s", name, row.Kinds[0], kind).
				WithHint("one hook has one body: write two hooks, or join them with parallel"))
		default:
			names := keyNames(p, kind)
			l.Report(in, codeUnknownField.Report(e.Key.Span, "unknown key %q in %s", name, placeNames[p]).
				WithHint("%s", diag.DidYouMean(name, names, "keys: "+strings.Join(names, ", "))))
		}
	}
	return f
}

var placeNames = map[Place]string{
	InFile: "a policy", InDefaults: "defaults", InRego: "rego", InTools: "tools", InLog: "log", InFact: "a fact", InDocument: "a document", InApproval: "approval", InRequire: "an entry of require", InWebhook: "webhook", InEvent: "an event",
	InGroup: "a parallel group", InHook: "a hook", InFilter: "a filter", InRule: "a rule",
}

func (f fields) get(name string) *tree.Node {
	if FindKey(f.place, name) == nil {
		panic("source: key " + name + " of " + string(f.place) + " is not in the schema")
	}
	return f.node.Get(name)
}

//go:noinline
func (f fields) report(d diag.Diagnostic) { f.l.Report(f.in, d) }

// wrongType reports that the value of name is not what it takes.
func (f fields) wrongType(name string, n *tree.Node, takes, hint string) {
	d := tree.CodeType.Report(n.Span, "%s takes %s; this is %s", name, takes, n.What())
	if hint != "" {
		d = d.WithHint("%s", hint)
	}
	f.report(d)
}

// text returns a key's text; the zero Text when it is not written or wrong.
func (f fields) text(name string) diag.Text {
	n := f.get(name)
	if n == nil {
		return diag.Text{}
	}
	return f.textOf(name, n)
}

func (f fields) textOf(name string, n *tree.Node) diag.Text {
	switch {
	case !n.IsText() && n.Shape == tree.Scalar && !n.IsNull():
		f.wrongType(name, n, "text", "put it in quotes")
	case !n.IsText():
		f.wrongType(name, n, "text", "")
	case strings.TrimSpace(n.Text.Value) == "":
		f.report(tree.CodeType.Report(n.Span, "%s is an empty text", name).WithHint("write its value, or remove the key"))
	default:
		return n.Text
	}
	return diag.Text{}
}

// expression returns a key's expression. A bare true or number is one too.
func (f fields) expression(name string, n *tree.Node) diag.Text {
	if n.Shape == tree.Scalar && !n.IsNull() && !n.IsText() {
		return n.Text
	}
	return f.textOf(name, n)
}

// texts returns a list of texts; nil when it is not written, empty when it is
// written empty. One text is a list of one.
func (f fields) texts(name string) []diag.Text {
	n := f.get(name)
	if n == nil {
		return nil
	}
	out := []diag.Text{}
	switch {
	case n.IsText():
		n = &tree.Node{Shape: tree.List, Items: []*tree.Node{n}}
	case n.Shape != tree.List:
		f.wrongType(name, n, "a list", "")
		return out
	}
	for _, item := range n.Items {
		if t := f.textOf(name, item); !t.IsZero() {
			out = append(out, t)
		}
	}
	return out
}

// Values are the plain texts of a list.
//
//go:noinline
func Values(texts []diag.Text) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = t.Value
	}
	return out
}

// word returns a key's word when parse takes it.
func (f fields) word(name string, parse func(string) bool) (string, diag.Span) {
	n := f.get(name)
	if n == nil {
		return "", diag.Span{}
	}
	return f.wordOf(name, n, parse), n.Span
}

func (f fields) wordOf(name string, n *tree.Node, parse func(string) bool) string {
	words := FindKey(f.place, name).Words
	if n.Shape != tree.Scalar || n.IsNull() {
		f.wrongType(name, n, "a word", "one of "+strings.Join(words, ", "))
		return ""
	}
	if w := n.Text.Value; parse(w) {
		return w
	}
	hint := "one of " + strings.Join(words, ", ")
	if len(words) > 3 {
		hint = diag.DidYouMean(n.Text.Value, words, hint)
	}
	f.report(codeWord.Report(n.Span, "%s: %q is not one of its words", name, n.Text.Value).WithHint("%s", hint))
	return ""
}

func (f fields) posture(name string, n *tree.Node) policy.Posture {
	var out policy.Posture
	f.wordOf(name, n, func(w string) bool {
		p, err := policy.ParsePosture(w)
		out = p
		return err == nil
	})
	return out
}

// bool returns a key's boolean, or otherwise.
func (f fields) bool(name string, otherwise bool) bool {
	n := f.get(name)
	if n == nil {
		return otherwise
	}
	b, ok := n.Bool()
	if !ok {
		f.wrongType(name, n, "true or false", "")
		return otherwise
	}
	return b
}

// int returns a key's whole number of at least least, or otherwise.
func (f fields) int(name string, least, otherwise int) int {
	n := f.get(name)
	if n == nil {
		return otherwise
	}
	i, ok := n.Int()
	switch {
	case !ok && n.Tag == tree.TagInt:
		f.report(codeRange.Report(n.Span, "%s: %s is too large", name, n.Text.Value))
	case !ok:
		f.wrongType(name, n, "a whole number", "")
	case i < least || i > math.MaxInt32 || i < math.MinInt32:
		f.report(codeRange.Report(n.Span, "%s: %d is out of range", name, i).WithHint("it is at least %d", max(least, math.MinInt32)))
	default:
		return i
	}
	return otherwise
}

// duration returns a key's duration, 0 when it is not written or wrong.
func (f fields) duration(name string) (time.Duration, diag.Span) {
	n := f.get(name)
	if n == nil {
		return 0, diag.Span{}
	}
	const hint = `write seconds such as 5 or 0.5, or a text such as "500ms" or "2m"`
	var d time.Duration
	seconds, ok := n.Float()
	switch {
	case ok && math.Abs(seconds) <= MaxDuration.Seconds():
		d = time.Duration(math.Round(seconds * float64(time.Second)))
	case ok:
		d = MaxDuration + 1
	case n.IsText():
		var err error
		if d, err = time.ParseDuration(strings.TrimSpace(n.Text.Value)); err != nil {
			f.wrongType(name, n, "a duration", hint)
			return 0, n.Span
		}
	default:
		f.wrongType(name, n, "a duration", hint)
		return 0, n.Span
	}
	if d <= 0 || d > MaxDuration {
		f.report(codeRange.Report(n.Span, "%s: %s is not between nothing and a day", name, n.Text.Value).WithHint("%s", hint))
		return 0, n.Span
	}
	return d, n.Span
}

// child returns the map under a key, or nil when it is not written, wrong, or
// empty where that is allowed: a part all of whose lines are commented out.
func (f fields) child(name string, mayBeEmpty bool) *tree.Node {
	n := f.get(name)
	switch {
	case n == nil, n.IsNull() && mayBeEmpty:
		return nil
	case n.Shape != tree.Map:
		f.wrongType(name, n, "a map", "")
		return nil
	}
	return n
}

// list returns the items of a list under a key.
func (f fields) list(name string) []*tree.Node {
	n := f.get(name)
	switch {
	case n == nil:
		return nil
	case n.Shape != tree.List:
		f.wrongType(name, n, "a list", `begin each item with "- "`)
		return nil
	}
	return n.Items
}

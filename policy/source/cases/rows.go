package cases

import (
	"regexp"
	"strconv"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// HookKeys are what a case can expect of a single hook.
func HookKeys() []string {
	return []string{"status", "verdict", "control", "reasons", "attempts", "at"}
}

// hooks are what is expected of single hooks.
func (r *caseReader) hooks(n *tree.Node) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, hook := range n.Entries {
		out[hook.Key.Text.Value] = r.object(hook.Value)
		for _, e := range hook.Value.Entries {
			if !lists.Has(HookKeys(), e.Key.Text.Value) {
				r.unknown(e.Key, HookKeys()...)
			}
		}
	}
	return out
}

// time is the time of `now:`.
func (r *caseReader) time(n *tree.Node) time.Time {
	t, err := time.Parse(time.RFC3339, n.Text.Value)
	if n.Shape != tree.Scalar || err != nil {
		r.report(n.Span, "now must be a time such as 2026-01-31T22:30:00Z")
	}
	return t
}

// environ is `env:` as NAME=value.
func (r *caseReader) environ(n *tree.Node) []string {
	if n.Shape != tree.Map {
		r.report(n.Span, "env must be a map from variable to value")
		return nil
	}
	var out []string
	for _, e := range n.Entries {
		if e.Value.Shape != tree.Scalar || e.Value.IsNull() {
			r.report(e.Value.Span, "the value of a variable must be a text")
			continue
		}
		out = append(out, e.Key.Text.Value+"="+e.Value.Text.Value)
	}
	return out
}

func (r *caseReader) yes(n *tree.Node) bool {
	b, ok := n.Bool()
	if !ok {
		r.report(n.Span, "must be true or false")
	}
	return b
}

// rows are a case for each row of its table; a case without one is itself.
func (r *caseReader) rows(n *tree.Node) []*tree.Node {
	table := n.Get("rows")
	if table == nil {
		return []*tree.Node{n}
	}
	if table.Shape != tree.List || len(table.Items) == 0 {
		r.report(table.Span, "rows must be a list of maps")
		return nil
	}
	var out []*tree.Node
	for i, row := range table.Items {
		if row.Shape != tree.Map {
			r.report(row.Span, "a row must be a map from a name to what {{name}} means")
			continue
		}
		before := len(r.found)
		if c := r.filled(n, row, i+1); len(r.found) == before {
			out = append(out, c)
		}
	}
	return out
}

var placeholder = regexp.MustCompile(`\{\{ *([A-Za-z0-9_-]+) *\}\}`)

// filling puts the values of a row into a case.
type filling struct {
	r      *caseReader
	row    *tree.Node
	unused map[string]*tree.Node
	names  []string
}

// filled is a case with the values of a row. A row without a name of its own is
// told by its number.
func (r *caseReader) filled(n, row *tree.Node, number int) *tree.Node {
	f := filling{r: r, row: row, unused: map[string]*tree.Node{}}
	for _, e := range row.Entries {
		f.names = append(f.names, e.Key.Text.Value)
		f.unused[e.Key.Text.Value] = e.Key
	}
	out := *n
	out.Entries = nil
	for _, e := range n.Entries {
		value := e.Value
		switch e.Key.Text.Value {
		case "rows":
			continue
		case "name":
			if value = f.node(value); value.Text.Value == e.Value.Text.Value {
				own := *value
				own.Text = diag.NewText(value.Text.Value+" #"+strconv.Itoa(number), value.Span, nil)
				value = &own
			}
			own := *value
			own.Span = row.Span // where the row is written tells more than the case
			value = &own
		default:
			value = f.node(value)
		}
		out.Entries = append(out.Entries, tree.Entry{Key: e.Key, Value: value})
	}
	for _, name := range lists.Keys(f.unused) {
		r.report(f.unused[name].Span, "{{%s}} is nowhere in the case", name)
	}
	return &out
}

// node is a value with the row's in it: a text that is one placeholder is the
// row's value itself, of any type.
func (f *filling) node(n *tree.Node) *tree.Node {
	out := *n
	out.Entries, out.Items = nil, nil
	for _, e := range n.Entries {
		out.Entries = append(out.Entries, tree.Entry{Key: e.Key, Value: f.node(e.Value)})
	}
	for _, item := range n.Items {
		out.Items = append(out.Items, f.node(item))
	}
	if n.Shape != tree.Scalar {
		return &out
	}
	if m := placeholder.FindStringSubmatch(n.Text.Value); m != nil && m[0] == n.Text.Value {
		if v := f.value(n, m[1]); v != nil {
			return v
		}
		return &out
	}
	text := placeholder.ReplaceAllStringFunc(n.Text.Value, func(s string) string {
		v := f.value(n, placeholder.FindStringSubmatch(s)[1])
		switch {
		case v == nil:
			return s
		case v.Shape != tree.Scalar:
			f.r.report(v.Span, "a list or a map cannot be part of a text")
		}
		return v.Text.Value
	})
	if text != n.Text.Value {
		out.Text = diag.NewText(text, n.Span, nil)
	}
	return &out
}

// value is what a name means in the row.
func (f *filling) value(at *tree.Node, name string) *tree.Node {
	delete(f.unused, name)
	v := f.row.Get(name)
	if v == nil {
		f.r.report(at.Span, "{{%s}} is not in the row at %s: %s", name, f.row.Span, diag.DidYouMean(name, f.names, "a row names all that the case wants"))
	}
	return v
}

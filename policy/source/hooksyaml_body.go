package source

import (
	"math"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// body reads the part of a hook that its kind has.
func (r *yamlReader) body(f fields, h *policy.Hook) {
	switch h.Kind {
	case policy.KindBash:
		r.bash(f, h)
	case policy.KindLLM:
		h.Body.Prompt, h.Body.Model = f.text("prompt"), f.text("model").Value
		if f.get("prompt") == nil {
			f.need(h, "prompt")
		}
	case policy.KindRego:
		r.regoBody(f, h)
	case policy.KindExpr:
		r.exprBody(f, h)
	case policy.KindBuiltin:
		r.builtin(f, h)
	default:
		r.added(f, h)
	}
}

// added reads the keys of a kind that was added by [AddKind].
func (r *yamlReader) added(f fields, h *policy.Hook) {
	var names []string
	missing := true
	for _, row := range schema() {
		if row.Place != InHook || !lists.Equal(row.Kinds, []policy.Kind{h.Kind}) {
			continue
		}
		n := f.get(row.Name)
		if row.Infers {
			names, missing = append(names, row.Name), missing && n == nil
		}
		if n == nil {
			continue
		}
		switch row.Type {
		case TypeTexts:
			f.texts(row.Name)
		case TypeBool:
			f.bool(row.Name, false)
		case TypeInt:
			f.int(row.Name, math.MinInt32, 0)
		case TypeCount:
			f.int(row.Name, 0, 0)
		case TypeDuration:
			f.duration(row.Name)
		case TypeWord:
			f.word(row.Name, func(w string) bool { return lists.Has(row.Words, w) })
		case TypeMap:
			f.child(row.Name, true)
		default:
			f.text(row.Name)
		}
		h.Body.Options = append(h.Body.Options, policy.Option{Key: diag.NewText(row.Name, n.Span, nil), Value: n.Value(), Span: n.Span})
	}
	if missing && len(names) > 0 {
		f.need(h, names...)
	}
}

func (r *yamlReader) bash(f fields, h *policy.Hook) {
	h.Body.Command = f.text("command")
	if f.get("command") == nil {
		f.need(h, "command")
	}
	f.word("protocol", func(w string) bool {
		var ok bool
		h.Body.Protocol, ok = agent.ParseProtocol(w)
		return ok
	})
	h.Body.Agent.Event = f.text("native_event").Value
	if env := f.child("env", false); env != nil {
		for _, e := range env.Entries {
			if e.Value.Shape != tree.Scalar || e.Value.IsNull() {
				f.wrongType("env", e.Value, "a text for each variable", "")
				continue
			}
			h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: e.Key.Text.Value, Value: e.Value.Text.Value})
		}
	}
	if cwd := f.text("cwd"); !cwd.IsZero() {
		h.Body.WorkDir = r.in.path(r.config.Dir, cwd.Value)
	}
}

// redirects reports whether a variable changes which programs or files a
// command comes to run, whatever its text says.
func redirects(v policy.EnvVar) bool {
	return strings.HasPrefix(v.Name, "LD_") || strings.HasPrefix(v.Name, "DYLD_") ||
		lists.Has([]string{"PATH", "BASH_ENV", "ENV", "CDPATH", "IFS", "SHELLOPTS", "NODE_OPTIONS", "NODE_PATH",
			"PERL5LIB", "PERL5OPT", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "RUBYLIB", "RUBYOPT"}, v.Name)
}

func (r *yamlReader) regoBody(f fields, h *policy.Hook) {
	if n := f.get("allow"); n != nil {
		if h.Body.AllowIsOpinion = n.IsText() && n.Text.Value == Opinion; !h.Body.AllowIsOpinion {
			f.wrongType("allow", n, "the word opinion in a rego hook", "an expression is a hook of its own")
		}
	}
	source, file := f.get("source"), f.get("file")
	switch {
	case source != nil && file != nil:
		f.report(codeConflict.Report(file.Span, "a Rego hook has either source or file"))
	case source != nil:
		h.Body.Source = f.text("source")
	case file != nil:
		r.regoFile(f.text("file"), h)
	default:
		f.need(h, "source", "file")
	}
}

// Opinion is what a rego hook may say of its allow, which is no expression.
const Opinion = "opinion"

func (r *yamlReader) regoFile(name diag.Text, h *policy.Hook) {
	if name.IsZero() {
		return
	}
	path := r.in.path(r.config.Dir, name.Value)
	h.Body.File = path
	if r.l.full(r.in) {
		return
	}
	if err := r.in.Outside(path); err != nil {
		r.report(codeFile.Report(name.Span, "%s: %s", name.Value, err))
		return
	}
	r.source.Uses = append(r.source.Uses, path)
	content, print, at, err := r.l.readFile(path)
	if err != nil {
		r.l.sight.unsure()
		r.report(codeFile.Report(name.Span, "%s: %s", name.Value, plainError(err)).
			WithHint("it is looked for in %s", r.l.shown(r.config.Dir)))
		return
	}
	if r.l.heavy(r.in, content) {
		return
	}
	source, wrong := bodyText(r.l.shown(path), content)
	if wrong != nil {
		r.l.sight.unsure() // findings of a file that does not run are no errors
		r.l.Report(r.in, wrong...)
		return
	}
	h.Body.Source = source
	r.l.sight.note(path, aBody, content, h, print, at)
}

// exprSets are the keys of an expr hook that are short for one of set.
var exprSets = map[string]string{"message": "system_message", "feedback": "retry_feedback", "inject": "inject_messages",
	"modified_input": "modified_input"}

// exprBody reads the rules of an expr hook in the order written: those of the
// hook's own keywords, and those under `rules`.
func (r *yamlReader) exprBody(f fields, h *policy.Hook) {
	b := &h.Body
	reason := f.text("reason")
	for _, e := range f.node.Entries {
		name := e.Key.Text.Value
		if says, ok := policy.ParsePower(name); ok && FindKey(InHook, name) != nil {
			b.Rules = append(b.Rules, policy.Rule{Says: says, Condition: f.expression(name, e.Value), Reason: reason, Span: e.Key.Span})
		}
		if name == "rules" {
			r.rules(f, reason, b)
		}
		if sets := exprSets[name]; sets != "" {
			b.Set = append(b.Set, policy.Assign{Path: diag.NewText(sets, e.Key.Span, nil), Value: f.expression(name, e.Value)})
		}
	}
	if set := f.child("set", false); set != nil {
		for _, e := range set.Entries {
			b.Set = append(b.Set, policy.Assign{Path: e.Key.Text, Value: f.expression("set", e.Value)})
		}
	}
	if n := f.get("context"); n != nil {
		b.Context = f.expression("context", n)
	}
	if n := f.get("when"); n != nil {
		b.When = f.expression("when", n)
	}
	has := func(name string) bool { return f.get(name) != nil }
	switch {
	case !lists.Some(f.node.Entries, func(e *tree.Entry) bool {
		row := FindKey(InHook, e.Key.Text.Value)
		return row != nil && row.Infers && row.takes(policy.KindExpr)
	}):
		f.need(h, "a condition such as deny, rules, set", "context")
	case has("reason") && len(b.Rules) == 0 && !has("rules"):
		f.report(codeConflict.Report(f.get("reason").Span, "a reason goes with a rule; this hook has none").
			WithHint("context is what adds a text without a verdict"))
	}
}

func (r *yamlReader) rules(f fields, reason diag.Text, b *policy.Body) {
	items := f.list("rules")
	if n := f.get("rules"); n.Shape == tree.List && len(items) == 0 {
		r.report(codeMissing.Report(n.Span, "rules is empty").WithHint("write - deny: ..."))
	}
	for _, n := range items {
		if n.Shape != tree.Map {
			f.wrongType("rules", n, "a map for each rule", "write - deny: ...")
			continue
		}
		r.rule(n, reason, b)
	}
}

func (r *yamlReader) rule(n *tree.Node, reason diag.Text, b *policy.Body) {
	f := r.l.fields(r.in, n, InRule, "")
	if t := f.text("reason"); !t.IsZero() {
		reason = t
	}
	said := ""
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		says, ok := policy.ParsePower(name)
		switch {
		case !ok || FindKey(InRule, name) == nil:
		case said != "":
			r.report(codeConflict.Report(e.Key.Span, "a rule has one keyword; this one has %s and %s", said, name).
				WithHint("write two rules"))
		default:
			said = name
			b.Rules = append(b.Rules, policy.Rule{Says: says, Condition: f.expression(name, e.Value), Reason: reason, Span: e.Key.Span})
		}
	}
	if said == "" {
		r.report(codeMissing.Report(itemSpan(n), "the rule has no condition").WithHint("write deny, ask, allow, skip or stop"))
	}
}

// builtin reads `use` and takes every key that no hook has for an option;
// whether the guard knows it, its own package says.
func (r *yamlReader) builtin(f fields, h *policy.Hook) {
	h.Body.Use = f.text("use")
	if f.get("use") == nil {
		f.need(h, "use")
	}
	for _, e := range f.node.Entries {
		if row := FindKey(InHook, e.Key.Text.Value); row != nil && row.takes(policy.KindBuiltin) {
			continue
		}
		h.Body.Options = append(h.Body.Options, policy.Option{Key: e.Key.Text, Value: e.Value.Value(), Span: e.Value.Span})
	}
}

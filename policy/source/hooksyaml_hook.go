package source

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeMissing = diag.Define("HK010", diag.Error, "something is missing")
var codeConflict = diag.Define("HK011", diag.Error, "keys that exclude each other")
var codeMemberPriority = diag.Define("HK020", diag.Error, "priority of a member of a parallel group")

// KindAlias is the newer jcli name of bash.
const KindAlias = "shell"

// parseKind reads a word of `type:`.
func parseKind(word string) (policy.Kind, bool) {
	if word == KindAlias {
		return policy.KindBash, true
	}
	return policy.Kind(word), lists.Has(policy.KindNames(), word)
}

func (r *yamlReader) items(event policy.Event, items []*tree.Node) {
	for _, n := range items {
		switch {
		case n.Shape != tree.Map:
			d := tree.CodeType.Report(n.Span, "a hook is a map; this is %s", n.What())
			if n.IsText() {
				d = d.WithHint("write - command: %q", n.Text.Value)
			}
			r.report(d)
		case n.Get("parallel") != nil:
			r.group(event, n)
		default:
			r.hook(event, n, nil)
		}
	}
}

// group reads a `parallel` item.
func (r *yamlReader) group(event policy.Event, n *tree.Node) {
	f := r.l.fields(r.in, n, InGroup, "")
	g := &policy.Group{
		Name:     f.text("name").Value,
		Priority: f.int("priority", -1<<31, policy.DefaultPriority),
		Span:     itemSpan(n),
		Order:    r.l.Next(r.in.Tier, event),
	}
	if w, _ := f.word("fold", func(w string) bool { return w == "max" || w == "last" }); w == "last" {
		g.Fold = policy.FoldLast
	}
	members := f.list("parallel")
	if g.Name == "" {
		g.Name = fmt.Sprintf("%s..%d", DefaultName(r.in.Tier, event, g.Order), g.Order+len(members))
	}
	if f.get("parallel").Shape == tree.List && len(members) == 0 {
		r.report(codeMissing.Report(f.get("parallel").Span, "the parallel group has no members"))
	}
	for _, m := range members {
		switch {
		case m.Shape != tree.Map:
			r.report(tree.CodeType.Report(m.Span, "a hook is a map; this is %s", m.What()))
		case m.Get("parallel") != nil:
			r.report(codeConflict.Report(itemSpan(m), "a parallel group cannot hold another").
				WithHint("put its members into this group"))
		default:
			r.hook(event, m, g)
		}
	}
}

// itemSpan is where a hook or a group is said to be: its name, or its first
// key.
//
//go:noinline
func itemSpan(n *tree.Node) diag.Span {
	if name := n.Get("name"); name != nil && name.IsText() {
		return name.Span
	}
	if len(n.Entries) > 0 {
		return n.Entries[0].Key.Span
	}
	return n.Span
}

// kind finds what kind of hook n is: its type, or what its keys tell.
func (r *yamlReader) kind(n *tree.Node) (policy.Kind, bool) {
	if t := n.Get("type"); t != nil {
		var kind policy.Kind
		f := fields{r.l, r.in, InHook, n}
		w, _ := f.word("type", func(w string) bool {
			var ok bool
			kind, ok = parseKind(w)
			return ok
		})
		return kind, w != ""
	}
	if n.Get("use") != nil {
		return policy.KindBuiltin, true
	}
	for _, e := range n.Entries {
		if row := FindKey(InHook, e.Key.Text.Value); row != nil && row.Infers && !(row.Name == "allow" && e.Value.IsText() && e.Value.Text.Value == Opinion) {
			return row.Kinds[0], true
		}
	}
	for _, e := range n.Entries {
		if row := FindKey(InHook, e.Key.Text.Value); row == nil {
			// The misspelt key is likely the body; the unknown key is the
			// better message.
			r.l.fields(r.in, n, InHook, "")
			return "", false
		}
	}
	r.report(codeMissing.Report(itemSpan(n), "the hook does nothing").
		WithHint("write a command, a prompt, a source or file, an expression such as deny, or use"))
	return "", false
}

// switchesOff reports whether n is {name: x, enabled: false}: no hook, but the word
// that one of an earlier tier is not in force.
func switchesOff(n *tree.Node) bool {
	name, enabled := n.Get("name"), n.Get("enabled")
	if name == nil || !name.IsText() || enabled == nil {
		return false
	}
	on, is := enabled.Bool()
	return is && !on && !lists.Some(n.Entries, func(e *tree.Entry) bool {
		return !lists.Has([]string{"name", "enabled", "description"}, e.Key.Text.Value)
	})
}

// hook reads one hook and adds it. A hook that cannot be told from its keys
// is reported and not added; the findings keep the policy from compiling.
func (r *yamlReader) hook(event policy.Event, n *tree.Node, g *policy.Group) {
	if switchesOff(n) {
		f := r.l.fields(r.in, n, InHook, "")
		r.l.Add(r.in, &policy.Hook{Name: f.text("name").Value, Description: f.text("description").Value, Event: event, Off: true,
			Priority: policy.DefaultPriority, Retry: -1, Group: g, Span: itemSpan(n), Dir: r.config.Dir, File: r.config})
		return
	}
	kind, ok := r.kind(n)
	if !ok {
		return
	}
	f := r.l.fields(r.in, n, InHook, kind)
	h := &policy.Hook{
		Name: f.text("name").Value, Description: f.text("description").Value,
		Event: event, Kind: kind, Group: g, Span: itemSpan(n), Dir: r.config.Dir, File: r.config,
		Priority: f.int("priority", -1<<31, policy.DefaultPriority),
		Locked:   f.bool("locked", false),
		Disabled: !f.bool("enabled", true),
		Async:    f.bool("async", false),
		Durable:  f.bool("durable", false),
		Recheck:  f.bool("recheck", false),
		Retry:    f.int("retry", 0, -1),
	}
	h.Enforcement, h.Spared = f.enforced(r.enforcement, r.spared)
	h.Timeout, h.TimeoutSpan = f.duration("timeout")
	if e := f.get("on_error"); e != nil {
		h.OnError = f.posture("on_error", e)
	}
	if e := f.get("on_timeout"); e != nil {
		h.OnTimeout = f.posture("on_timeout", e)
	}
	if g != nil && f.get("priority") != nil {
		r.report(codeMemberPriority.Report(f.get("priority").Span, "a member of a parallel group has no priority of its own").
			WithHint("write priority beside parallel"))
	}
	if c := f.child("filter", false); c != nil {
		h.Filter = r.filter(c)
	}
	h.Declared = f.declared()
	r.body(f, h)
	r.l.Add(r.in, h)
}

func (r *yamlReader) filter(n *tree.Node) policy.Filter {
	f := r.l.fields(r.in, n, InFilter, "")
	out := policy.Filter{Span: n.Span}
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		if FindKey(InFilter, name) == nil {
			continue
		}
		if e.Value.Shape == tree.List {
			f.wrongType(name, e.Value, "one text", `several tools are written tool_matcher: "A|B"`)
			continue
		}
		if words := FindKey(InFilter, name).Words; words != nil && f.wordOf(name, e.Value, func(w string) bool { return lists.Has(words, w) }) == "" {
			continue
		}
		if t := f.textOf(name, e.Value); !t.IsZero() {
			out.Conditions = append(out.Conditions, policy.Condition{Key: policy.FilterKey(name), Value: t})
		}
	}
	return out
}

// declared reads the effects an author wrote.
func (f fields) declared() policy.Declared {
	d := policy.Declared{Reads: f.texts("reads"), Writes: f.texts("writes"), May: f.texts("may"), Pure: f.bool("pure", false)}
	f.word("world", func(w string) bool {
		var ok bool
		d.World, ok = policy.ParseWorld(w)
		return ok
	})
	if f.get("speculative") != nil {
		s := f.bool("speculative", false)
		d.Speculative = &s
	}
	for _, e := range f.node.Entries {
		if lists.Has([]string{"reads", "writes", "may", "world", "speculative", "pure"}, e.Key.Text.Value) {
			d.Span = e.Key.Span
			break
		}
	}
	if d.Pure && d.World > policy.WorldNone {
		f.report(codeConflict.Report(f.get("world").Span, "a pure hook does not use the world").WithHint("remove pure or world"))
	}
	if d.Pure && d.Speculative != nil && !*d.Speculative {
		f.report(codeConflict.Report(f.get("speculative").Span, "a pure hook is speculative").WithHint("write world: none instead of pure"))
	}
	return d
}

// need reports that a hook lacks the key its kind needs.
func (f fields) need(h *policy.Hook, names ...string) {
	f.report(codeMissing.Report(h.Span, "a hook of type %s needs %s", h.Kind, strings.Join(names, " or ")))
}

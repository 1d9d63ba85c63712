package diff

import (
	"fmt"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/callmatch"
)

// HookChange is one hook that is not as it was.
type HookChange struct {
	// Change is added, removed, changed, or moved: the same hook in another
	// place among the others.
	Change string       `json:"change"`
	Event  policy.Event `json:"event"`
	Hook   string       `json:"hook"`
	Kind   policy.Kind  `json:"kind"`
	// Was is the hook's former name, "" when it has none.
	Was string `json:"was,omitempty"`
	// Old and New are where it is written.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Fields are the keys that differ, of a hook that was changed.
	Fields []FieldChange `json:"fields,omitempty"`
	// MayDiffer says why decisions may differ without being tried: the hook is a
	// process or a model, and is not run. "" is a hook that was tried.
	MayDiffer string `json:"may_differ,omitempty"`
	Known
	of pair
}

// The words of HookChange.Change.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
	Moved   = "moved"
)

// pair is a hook of one policy and what became of it in the other; either may be
// nil. Places are those in the chain of the event.
type pair struct {
	old, new *dag.Entry
	was, is  int
}

// hookChanges lists the hooks that differ, by lifecycle point, in the order of
// the new chain; those removed come first.
func hookChanges(old, new *dag.Program, o *Options) []HookChange {
	out := []HookChange{}
	scripts := scriptChanges(old, new)
	for _, event := range policy.Events() {
		if !o.wants(event) {
			continue
		}
		pairs := match(entriesOf(old, event, o.Tool), entriesOf(new, event, o.Tool))
		moved := movedPairs(pairs)
		for i := range pairs {
			if c, differs := pairs[i].change(event, moved[i], scripts); differs {
				out = append(out, c)
			}
		}
	}
	return out
}

// entriesOf are the hooks of a lifecycle point that can concern a tool.
func entriesOf(p *dag.Program, event policy.Event, tool string) []*dag.Entry {
	plan := p.Plan(event)
	var out []*dag.Entry
	for i := range p.Hooks {
		e := &p.Hooks[i]
		if e.Hook.Event == event && (tool == "" || concerns(plan, e.Hook, tool)) {
			out = append(out, e)
		}
	}
	return out
}

// concerns reports whether a hook can match a call of the tool, as far as the
// tool's name tells.
func concerns(plan *dag.Plan, h *policy.Hook, tool string) bool {
	if plan == nil {
		return true
	}
	for i := range plan.Nodes {
		if n := &plan.Nodes[i]; n.Hook == h || n.Hook.Name == h.Name && n.Hook.Span == h.Span {
			return mayMatch(plan.Event, n.Matcher, tool)
		}
	}
	return true
}

// mayMatch reports whether the conditions on the tool's name and kind hold.
func mayMatch(event policy.Event, m *policy.Matcher, tool string) bool {
	if m == nil {
		return true
	}
	c := policy.NewContext(event).Set(policy.FieldToolName, tool)
	for i := range m.Atoms {
		if a := &m.Atoms[i]; callmatch.ByName(a) && !a.Test(c) {
			return false
		}
	}
	return true
}

// match pairs hooks: of one name and text, then of one name, then of one text,
// since a hook without a name is called after its place.
func match(old, new []*dag.Entry) []pair {
	taken := make([]bool, len(new))
	found := make([]int, len(old))
	texts := func(list []*dag.Entry) []string {
		out := make([]string, len(list))
		for i, e := range list {
			out[i] = describe(e).text()
		}
		return out
	}
	was, is := texts(old), texts(new)
	for i := range found {
		found[i] = -1
	}
	round := func(same func(i, j int) bool) {
		for i := range old {
			for j := range new {
				if found[i] < 0 && !taken[j] && same(i, j) {
					found[i], taken[j] = j, true
				}
			}
		}
	}
	round(func(i, j int) bool { return old[i].Hook.Name == new[j].Hook.Name && was[i] == is[j] })
	round(func(i, j int) bool { return was[i] == is[j] })
	round(func(i, j int) bool { return old[i].Hook.Name == new[j].Hook.Name })
	var out []pair
	for i, e := range old {
		if found[i] < 0 {
			out = append(out, pair{old: e, was: i, is: -1})
		}
	}
	for j, e := range new {
		p := pair{new: e, was: -1, is: j}
		if i := slices.Index(found, j); i >= 0 {
			p.old, p.was = old[i], i
		}
		out = append(out, p)
	}
	return out
}

// movedPairs marks the fewest pairs without which the others are in the order
// they were in.
func movedPairs(pairs []pair) []bool {
	// longest[i] is the longest rising run of places that ends with pair i.
	longest, before := make([]int, len(pairs)), make([]int, len(pairs))
	best := -1
	for i, p := range pairs {
		before[i] = -1
		if p.old == nil || p.new == nil {
			continue
		}
		longest[i] = 1
		for j := range i {
			if q := pairs[j]; longest[j] >= longest[i] && q.was < p.was {
				longest[i], before[i] = longest[j]+1, j
			}
		}
		if best < 0 || longest[i] > longest[best] {
			best = i
		}
	}
	moved := make([]bool, len(pairs))
	for i, p := range pairs {
		moved[i] = p.old != nil && p.new != nil
	}
	for i := best; i >= 0; i = before[i] {
		moved[i] = false
	}
	return moved
}

// change is what became of a hook, if anything did.
func (p *pair) change(event policy.Event, moved bool, scripts map[string]bool) (HookChange, bool) {
	e := lists.First(p.new, p.old)
	c := HookChange{Event: event, Hook: e.Hook.Name, Kind: e.Hook.Kind, of: *p}
	if p.old != nil {
		c.Old = p.old.Hook.Span.String()
	}
	if p.new != nil {
		c.New = p.new.Hook.Span.String()
	}
	switch {
	case p.old == nil:
		c.Change = Added
	case p.new == nil:
		c.Change = Removed
	default:
		if p.old.Hook.Name != p.new.Hook.Name && !placeName(p.old) && !placeName(p.new) {
			c.Was = p.old.Hook.Name
		}
		c.Fields = describe(p.old).against(describe(p.new))
		for _, name := range scriptsOf(e.Hook, scripts) {
			c.Fields = append(c.Fields, FieldChange{Key: "file " + name, Old: "as it was", New: "changed"})
		}
		switch {
		case len(c.Fields) > 0 || c.Was != "":
			c.Change = Changed
		case moved:
			c.Change = Moved
		default:
			return c, false
		}
	}
	c.MayDiffer = mayDiffer(&c)
	return c, true
}

// placeName reports whether a hook is called after its place, having no name of
// its own.
func placeName(e *dag.Entry) bool {
	var n int
	prefix := e.Hook.Tier.String() + "/" + string(e.Hook.Event) + "#"
	if len(e.Hook.Name) <= len(prefix) || e.Hook.Name[:len(prefix)] != prefix {
		return false
	}
	_, err := fmt.Sscanf(e.Hook.Name[len(prefix):], "%d", &n)
	return err == nil
}

// mayDiffer says of a hook that is not run what may make decisions differ.
func mayDiffer(c *HookChange) string {
	if c.Kind.InProcess() {
		return ""
	}
	what := lists.First(map[policy.Kind]string{policy.KindBash: "script", policy.KindLLM: "prompt"}[c.Kind], string(c.Kind))
	switch c.Change {
	case Changed:
		return fmt.Sprintf("may differ: %s changed, and was not run", what)
	case Moved:
		return "may differ: it has another place, and was not run"
	}
	return fmt.Sprintf("may differ: %s %s, and was not run", what, c.Change)
}

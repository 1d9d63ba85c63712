package compiler

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// trace writes what the policy looks like after a pass, or that it looks as
// before. A writer that fails is the caller's business.
func (u *unit) trace(p *pass) {
	if u.cfg.Trace == nil {
		return
	}
	text := u.dump()
	out := fmt.Sprintf("== %s: %s\n", p.Name, p.doc)
	if text == u.last {
		out += "no change\n"
	} else {
		out += text
	}
	u.last = text
	_, _ = fmt.Fprint(u.cfg.Trace, out)
}

// dump is the working state as text: what passes have filled in so far, and
// nothing that depends on the clock.
func (u *unit) dump() string {
	var b strings.Builder
	for _, plan := range u.plans {
		fmt.Fprintf(&b, "%s strategy %s", plan.Event, plan.Strategy.Strategy)
		if plan.Deadline > 0 {
			fmt.Fprintf(&b, " deadline %s", plan.Deadline)
		}
		if u.done["posture"] {
			fmt.Fprintf(&b, " posture %s", plan.Posture())
		}
		if u.done["estimate"] {
			fmt.Fprintf(&b, " serial %s critical %s first deny %s", plan.Estimate.Serial, plan.Estimate.Critical, plan.Estimate.FirstDeny)
		}
		b.WriteByte('\n')
		for id := range plan.Nodes {
			u.dumpNode(&b, plan, id)
		}
		for _, e := range plan.Edges {
			fmt.Fprintf(&b, "  %d→%d %s: %s\n", e.From, e.To, e.Kind, e.Why)
		}
		for _, f := range plan.Fused {
			fmt.Fprintf(&b, "  fused %s slot %d: %v\n", f.Kind, f.Slot, f.Nodes)
		}
		for tool, ids := range sorted(plan.Index.Exact) {
			fmt.Fprintf(&b, "  tool %s: %v\n", tool, ids)
		}
		dumpTexts(&b, "  tools %s…: %v\n", plan.Index.Prefixes)
		dumpTexts(&b, "  tools …%s: %v\n", plan.Index.Suffixes)
	}
	for i := range u.entries {
		if e := &u.entries[i]; e.Status != dag.Live {
			fmt.Fprintf(&b, "%s %s %s: %s\n", e.Hook.Event, origin(e.Hook), e.Status, e.Reason)
		}
	}
	for _, p := range u.pipelines {
		fmt.Fprintf(&b, "pipeline %s: %d steps\n", p.Name, len(p.Steps))
	}
	if u.program != nil {
		fmt.Fprintf(&b, "hash %s\n", u.program.Hash)
	}
	return b.String()
}

func (u *unit) dumpNode(b *strings.Builder, plan *dag.Plan, id int) {
	n := &plan.Nodes[id]
	fmt.Fprintf(b, "  %d.%d %s %s", n.Item, id, origin(n.Hook), n.Hook.Kind)
	if n.RecheckOf >= 0 {
		fmt.Fprintf(b, " recheck of %d", n.RecheckOf)
	}
	if group := plan.Items[n.Item].Group; group != "" {
		fmt.Fprintf(b, " in %s", group)
	}
	if n.Matcher != nil && len(n.Matcher.Atoms) > 0 {
		for _, a := range n.Matcher.Atoms {
			fmt.Fprintf(b, " %s=%s", a.Key, strings.Join(a.Values, "|"))
		}
	}
	if u.done["effects"] {
		fmt.Fprintf(b, " reads [%s] writes [%s] may [%s] world %s spec %v halts %v on_error %s", n.Reads, n.Effects.Writes,
			n.Effects.May, n.Effects.World, n.Effects.Spec, n.MayHalt, n.OnError)
	}
	if u.done["edges"] {
		fmt.Fprintf(b, " wait %v started %v gate %d slot %d", n.Wait, n.Started, n.Gate, n.Slot)
	}
	b.WriteByte('\n')
}

func dumpTexts(b *strings.Builder, format string, texts map[int]map[string][]int) {
	for _, n := range lists.Keys(texts) {
		for text, ids := range sorted(texts[n]) {
			fmt.Fprintf(b, format, text, ids)
		}
	}
}

// sorted ranges a map in the order of its keys.
func sorted(m map[string][]int) func(func(string, []int) bool) {
	return func(yield func(string, []int) bool) {
		for _, k := range lists.Keys(m) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

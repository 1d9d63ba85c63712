package compiler

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// nativeCode makes code of the bodies whose kind can: they then do without the
// interpreter of their language, and say the same. A process that decides one
// event does without: that is more work than interpreting a body once.
func nativeCode(u *unit) {
	var nodes, first []*dag.Node // first are those whose body no other before has
	seen := map[*made]bool{}
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			if m := u.bodies[n.Hook]; !u.untouched[plan] && m != nil && m.body.Runner != nil {
				nodes = append(nodes, n)
				if !seen[m] {
					seen[m], first = true, append(first, n)
				}
			}
		}
	}
	u.each(len(first), func(i int) { u.natively(first[i].Hook, u.bodies[first[i].Hook]) })
	for _, n := range nodes {
		m := u.bodies[n.Hook]
		u.reportAll(n.Hook, m.doubts)
		n.Runner, n.Engine, n.Brief = m.body.Runner, m.body.Engine, m.body.Brief
		n.Unindexed = m.body.Unindexed
	}
}

// natively makes code of a body, once.
func (u *unit) natively(h *policy.Hook, m *made) {
	k := u.kind(h)
	if m.native || m.body.Runner == nil || !u.wantsNative() || k.Native == nil {
		return
	}
	m.native = true
	m.doubts = k.Native(h, &m.body)
}

// wantsNative reports whether bodies become code in this compilation.
func (u *unit) wantsNative() bool { return nativeBuilt && !u.cfg.Once && !u.without("native") }

package compiler

import (
	"fmt"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// prepare makes the body of every live hook ready. A body that was left on
// disk until needed is read now; the hook as loaded is not changed.
func prepare(u *unit) {
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			if u.reused {
				u.reportAll(n.Hook, u.bodies[n.Hook].found)
				continue
			}
			if n.Hook.Body.Load != nil && !u.load(&n.Hook) {
				continue
			}
			m := u.known(n.Hook)
			if m == nil {
				m = u.make(n.Hook)
			}
			body := &m.body
			u.reportAll(n.Hook, m.found)
			n.Runner, n.Engine, n.Always, n.Brief = body.Runner, body.Engine, body.Always, body.Brief
			if n.Unindexed = body.Unindexed; n.Hook.Spared > 0 {
				n.Always = 0 // not in every session
			}
			u.bodies[n.Hook] = m
		}
	}
}

// make makes a body ready.
func (u *unit) make(h *policy.Hook) *made {
	if m := u.remade[h]; m != nil {
		return m
	}
	body, found := u.kind(h).Prepare(h)
	if body.Runner == nil && !found.HasErrors() {
		panic(fmt.Sprintf("compiler: pass prepare: kind %s gave hook %s no runner and no error", h.Kind, h.Name))
	}
	return &made{body: body, found: append(found, u.bodyGlyphs(h)...)}
}

//go:noinline
func (u *unit) reportAll(h *policy.Hook, found diag.List) {
	for _, d := range found {
		u.report(h, d)
	}
}

// load replaces a hook by a copy with its body read, and reports whether that
// worked.
func (u *unit) load(at **policy.Hook) bool {
	old := *at
	body, found := old.Body.Load()
	for _, d := range found {
		u.report(old, d)
	}
	if found.HasErrors() {
		return false
	}
	h := *old
	h.Body = body
	h.Body.Load = nil
	u.place[&h] = u.place[old]
	delete(u.place, old)
	u.entries[u.place[&h]].Hook = &h
	*at = &h
	return true
}

package compiler

import (
	"fmt"

	"github.com/hookc/hookc/policy"
)

// prepare makes the body of every live hook ready. A body that was left on
// disk until needed is read now; the hook as loaded is not changed.
func prepare(u *unit) {
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			if n.Hook.Body.Load != nil && !u.load(&n.Hook) {
				continue
			}
			body, found := u.kind(n.Hook).Prepare(n.Hook)
			for _, d := range found {
				u.report(n.Hook, d)
			}
			if body.Runner == nil && !found.HasErrors() {
				panic(fmt.Sprintf("compiler: pass prepare: kind %s gave hook %s no runner and no error", n.Hook.Kind, n.Hook.Name))
			}
			n.Runner, n.Engine, n.Always, n.Brief = body.Runner, body.Engine, body.Always, body.Brief
			n.Unindexed = body.Unindexed
			u.bodies[n.Hook] = body
		}
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

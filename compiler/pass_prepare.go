package compiler

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// prepare makes the body of every live hook ready. A body that was left on
// disk until needed is read now; the hook as loaded is not changed.
func prepare(u *unit) {
	var nodes []*dag.Node
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			switch {
			case u.reused:
				u.reportAll(n.Hook, u.bodies[n.Hook].found)
			case n.Hook.Body.Load == nil || u.load(&n.Hook):
				nodes = append(nodes, n)
			}
		}
	}
	bodies := make([]*made, len(nodes))
	u.each(len(nodes), func(i int) {
		if bodies[i] = u.known(nodes[i].Hook); bodies[i] == nil {
			bodies[i] = u.make(nodes[i].Hook)
		}
	})
	for i, n := range nodes {
		m := bodies[i]
		u.reportAll(n.Hook, m.found)
		n.Runner, n.Engine, n.Always, n.Brief = m.body.Runner, m.body.Engine, m.body.Always, m.body.Brief
		if n.Unindexed = m.body.Unindexed; n.Hook.Spared > 0 {
			n.Always = 0 // not in every session
		}
		u.bodies[n.Hook] = m
	}
}

// each does something for the numbers below n, at once on all cores, but one after
// another in a process that decides one event. What panics does so here.
func (u *unit) each(n int, do func(i int)) {
	var next atomic.Int64
	var working sync.WaitGroup
	var wrong atomic.Pointer[any]
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				wrong.Store(&p)
			}
		}()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			do(int(i))
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		if !u.cfg.Once {
			working.Go(work)
		}
	}
	work()
	working.Wait()
	if p := wrong.Load(); p != nil {
		panic(*p)
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

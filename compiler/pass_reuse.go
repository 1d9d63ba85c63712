package compiler

import (
	"maps"
	"reflect"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// reuse takes over what an earlier compilation made. Of hooks that have not
// changed it is their bodies and filters. Where nothing changed but the texts
// of some bodies, and what those read, write, may say and use is what it was,
// it is the plans as well, with other bodies in them: no pass but those that
// look into bodies then has anything else to do, for all that the others look
// at is equal.
func reuse(u *unit) {
	for i := range u.cfg.Kinds {
		if begin := u.cfg.Kinds[i].Begin; begin != nil {
			begin()
		}
	}
	if u.cfg.Cache == nil || u.cfg.Trace != nil {
		return
	}
	u.earlier = u.cfg.Cache.last(&u.cfg)
	if u.earlier == nil || u.cfg.Costs != nil || u.earlier.cfg != signatureOf(&u.cfg) || !u.sameSettings() {
		return
	}
	if changed, ok := u.onlyTexts(); ok {
		u.reusePlans(changed)
	}
}

// sameSettings reports whether the policy says what the last one said, its
// hooks left aside.
func (u *unit) sameSettings() bool {
	a, b := *u.earlier.policy, *u.policy
	a.Hooks, b.Hooks = nil, nil
	return same(reflect.ValueOf(a), reflect.ValueOf(b))
}

// onlyTexts pairs the hooks of the last policy with what has become of each.
// ok is false when one of them differs in more than the text of its Rego.
func (u *unit) onlyTexts() (changed map[*policy.Hook]*policy.Hook, ok bool) {
	before, now := u.earlier.policy.Hooks, u.policy.Hooks
	if len(before) != len(now) {
		return nil, false
	}
	changed = map[*policy.Hook]*policy.Hook{}
	for i, h := range now {
		old := before[i]
		if h.Body.Load != nil {
			return nil, false // what is in a plan is a copy
		}
		if old == h {
			continue
		}
		a, b := *old, *h
		a.Body.Source, b.Body.Source = diag.Text{}, diag.Text{}
		if !same(reflect.ValueOf(a), reflect.ValueOf(b)) {
			return nil, false
		}
		changed[old] = h
	}
	return changed, true
}

// reusePlans begins where the last compilation ended, unless a body that had to be
// made again has turned out another one. Bodies that were made are kept for
// prepare either way.
func (u *unit) reusePlans(changed map[*policy.Hook]*policy.Hook) {
	before := u.earlier.unit
	bodies := maps.Clone(before.bodies)
	renewed := map[*policy.Hook]bool{}
	like := true
	for _, e := range before.entries {
		m, h := before.bodies[e.Hook], e.Hook
		if m == nil {
			continue // not live
		}
		now := changed[h]
		if now == nil && m.body.Fresh != nil && m.body.Fresh() {
			continue
		}
		if now == nil {
			now = h
		}
		next := u.known(now)
		if next == nil {
			next = u.make(now)
		}
		u.natively(now, next)
		u.remade[now] = next
		like = like && alike(&m.body, &next.body) && !next.found.HasErrors()
		next.spec, next.matcher, next.wrong = m.spec, m.matcher, m.wrong
		delete(bodies, h)
		bodies[now] = next
		renewed[h] = true
	}
	if !like {
		return
	}
	u.reused, u.bodies = true, bodies
	u.entries, u.place = lists.Copy(before.entries), maps.Clone(before.place)
	for i := range u.entries {
		if e := &u.entries[i]; changed[e.Hook] != nil {
			delete(u.place, e.Hook)
			e.Hook = changed[e.Hook]
			u.place[e.Hook] = i
		}
	}
	u.warnings, u.pipelines, u.fixed = before.warnings, before.pipelines, before.fixed
	u.diags = lists.Copy(u.fixed)
	for _, plan := range before.plans {
		u.plans = append(u.plans, u.another(plan, changed, renewed))
	}
}

// alike reports whether two bodies are the same to every pass but those that
// look into them.
func alike(a, b *dag.Body) bool {
	return a.Engine == b.Engine && a.Always == b.Always && a.Brief == b.Brief && a.Cost == b.Cost &&
		reflect.DeepEqual(a.Effects, b.Effects)
}

// another is a plan with other bodies; it is the same plan when it has none of
// those that were made again.
func (u *unit) another(plan *dag.Plan, changed map[*policy.Hook]*policy.Hook, renewed map[*policy.Hook]bool) *dag.Plan {
	if !lists.Some(plan.Nodes, func(n *dag.Node) bool { return renewed[n.Hook] }) {
		u.untouched[plan] = true
		return plan
	}
	nodes := lists.Copy(plan.Nodes)
	for i := range nodes {
		n := &nodes[i]
		if !renewed[n.Hook] {
			continue
		}
		if now := changed[n.Hook]; now != nil {
			n.Hook = now
		}
		body := &u.bodies[n.Hook].body
		n.Runner, n.Unindexed = body.Runner, body.Unindexed
	}
	return plan.WithBodies(nodes)
}

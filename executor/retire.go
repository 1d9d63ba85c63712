package executor

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// version is a context that several nodes see: the entry context with the
// patches of the nodes in key.
type version struct {
	key     []int
	context *policy.Context
}

// version is what node i sees: the context the event began with and, in item
// order, the patches of the nodes whose data it waits for. Members of one item
// are composed first, as they see one snapshot.
func (f *run) version(i int) *policy.Context {
	var key []int
	for _, from := range f.w.data[i] {
		if r := f.nodes[from].result; r != nil && !r.Patch.Empty() {
			key = append(key, from)
		}
	}
	if key == nil {
		return f.entry
	}
	for _, v := range f.versions {
		if lists.Equal(v.key, key) {
			return v.context
		}
	}
	s := f.entry
	var block policy.Patch
	for k, from := range key {
		block = block.Then(f.nodes[from].result.Patch)
		if k+1 == len(key) || f.node(key[k+1]).Item != f.node(from).Item {
			s = s.With(block)
			block = policy.Patch{}
		}
	}
	f.versions = append(f.versions, version{key, s})
	return s
}

// complete notes that every member of an item has answered. If it halts,
// nothing after it is wanted any more.
func (f *run) complete(item int) {
	p := &f.items[item]
	p.open = 0
	block := f.fold(item, false)
	p.halts = f.w.plan.Strategy.Halt.Halts(&block)
	if p.halts && item < f.halt {
		f.halt = item
		f.squash()
	}
	f.openGates()
	f.retire()
}

// fold joins what the members of an item contribute. Recheck copies are reduced to
// what is new when the item retires; that changes neither verdict nor control.
func (f *run) fold(item int, retiring bool) policy.Result {
	var block policy.Result
	it := &f.w.plan.Items[item]
	for _, m := range it.Members {
		r := f.nodes[m].result
		if r == nil {
			continue
		}
		if retiring && f.node(m).RecheckOf >= 0 {
			reduced := r.Recheck(&f.answer.Result)
			r = &reduced
		}
		block = f.w.plan.Join(it, block, *r)
	}
	return block
}

// squash stops what runs after the first known halt.
func (f *run) squash() {
	for i := range f.nodes {
		c := &f.nodes[i]
		if f.node(i).Item > f.halt && c.begun && !c.answered {
			f.workers.stop(i)
		}
	}
}

// openGates opens the chain of gates as far as items are complete and do not
// halt.
func (f *run) openGates() {
	for ; f.gate < len(f.w.gates); f.gate++ {
		item := f.w.gates[f.gate]
		if p := &f.items[item]; p.open > 0 || p.halts {
			return
		}
		f.release(f.w.afterGate[item])
	}
}

// retire folds complete items into the answer, in order, until one halts or
// none is left.
func (f *run) retire() {
	for ; f.head < len(f.items) && f.items[f.head].open == 0 && !f.over; f.head++ {
		block := f.fold(f.head, true)
		for _, m := range f.w.plan.Items[f.head].Members {
			f.trace(m)
		}
		f.after = f.answer.advance(f.w.plan, f.after, &block)
		f.over = f.items[f.head].halts
	}
	f.over = f.over || f.head == len(f.items)
	if f.over {
		f.answer.finish(f.w.plan, f.after)
		f.writeOff()
	}
}

// trace notes what a retired node did.
func (f *run) trace(i int) {
	c, t := &f.nodes[i], &f.answer.Hooks[i]
	if c.status == policy.StatusRan || c.status == policy.StatusFailed {
		r := c.result
		if r == nil {
			r = &policy.Result{}
		}
		f.answer.record(i, f.node(i), r, c.err)
	}
	t.Status, t.Attempts, t.Micros = c.status, c.attempts, c.took.Microseconds()
	f.x.report(f.w, i, t.Status, c.attempts, c.took, c.err)
}

// writeOff marks what was begun and is not part of the answer. An async hook
// goes on on its own, also when its caller gives up.
func (f *run) writeOff() {
	for _, item := range f.w.plan.Items[f.head:] {
		for _, i := range item.Members {
			c, t := &f.nodes[i], &f.answer.Hooks[i]
			switch {
			case !c.begun:
				continue
			case c.status == policy.StatusAsync:
				f.trace(i)
				continue
			}
			t.Status, t.Attempts, t.Micros = policy.StatusSquashed, c.attempts, c.took.Microseconds()
			f.x.report(f.w, i, t.Status, c.attempts, c.took, nil)
		}
	}
}

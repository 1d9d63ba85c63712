package rego

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/native"
)

// FusedNative is several modules of native code with one index over the rules of
// all: what an event costs is what it makes true, not how many there are
// (performance.md §11.8). It is immutable and safe for concurrent use.
type FusedNative struct {
	members []*Native
	fused   *native.Fused
	// entries are each member's, in the order native.Fused numbers them: its own
	// but those that are silent on every event.
	slots  []slot
	input  projection
	budget time.Duration
	timely bool
	runs   sync.Pool
	// change and doubted are what glance has: some member was wrong.
	change  atomic.Int64
	doubted atomic.Bool
	paths   paths
	leavers
}

// Fusible reports whether the module can be evaluated with others: all of it is
// native, what it reads is the same to others, and it is silent when none of its
// rules is true.
func (n *Native) Fusible() bool {
	if n.rest || !n.alike {
		return false
	}
	n.asked.Do(func() { n.loud = n.speaks() })
	return !n.loud
}

// speaks reports whether the module says something, or may, when none of its
// rules is found.
func (n *Native) speaks() bool {
	f := native.NewFused([]native.Member{n.member()})
	var list []delivered
	for i := range n.entries {
		if v, defined := f.Quiet(0, i); defined {
			list = append(list, n.entries[i].parts(int32(i), v)...)
		}
	}
	out, ok := n.answer(list)
	return !ok || !out.Quiet()
}

// parts is a value by what Rules would tell of it.
func (e *nativeEntry) parts(entry int32, v native.Value) []delivered {
	values := []native.Value{v}
	if set, ok := v.(*native.Set); ok && e.many {
		values = set.Elems()
	}
	out := make([]delivered, len(values))
	for i, v := range values {
		out[i] = delivered{entry, -1, v}
	}
	return out
}

func (n *Native) member() native.Member {
	m := native.Member{Code: n.code}
	for i := range n.entries {
		m.Entries = append(m.Entries, n.entries[i].fn)
	}
	return m
}

// FuseNative makes one evaluation of modules that are each Fusible.
func FuseNative(members []*Native) *FusedNative {
	f := &FusedNative{members: members, input: projection{whole: true}}
	list := make([]native.Member, len(members))
	for i, n := range members {
		list[i] = n.member()
		f.budget = max(f.budget, n.budget)
		f.timely = f.timely || n.timely
	}
	f.fused = native.NewFused(list)
	f.slots, _ = slotsOf(f.fused.Paths(), &f.input)
	f.runs.New = func() any { return newFusedNativeRun(f) }
	for _, n := range members {
		n.fused.Store(f)
		if n.leaving.Load() != nil {
			f.watchLeaver(n)
		}
	}
	return f
}

// fusedNativeRun is the memory of one evaluation.
type fusedNativeRun struct {
	machine native.FusedMachine
	input   eventInput
	steps   stepBudget
	of      evaluation
	// delivered is what members were told, one after another; owner is whose each is.
	delivered []delivered
	owner     []int32
	// rest are the chosen that are asked, where some are not.
	rest []int
	// size is input.size, made once.
	size func() int64
}

func newFusedNativeRun(f *FusedNative) *fusedNativeRun {
	r := &fusedNativeRun{input: eventInput{slots: f.slots, part: &f.input}}
	r.input.steps = &r.steps
	r.size = r.input.size
	r.machine.Machine.Stop = r.steps.stop
	r.machine.Machine.Context = &r.of
	r.machine.Machine.Budget = &r.steps
	r.machine.Yield = func(member, entry, block int, v native.Value) {
		if f.members[member].entries[entry].part != partPatch {
			r.tell(member, delivered{int32(entry), int32(block), v})
		}
	}
	return r
}

func (r *fusedNativeRun) tell(member int, t delivered) {
	r.delivered, r.owner = append(r.delivered, t), append(r.owner, int32(member))
}

// errStopped is why a fused evaluation says nothing: it took too long.
var errStopped = errors.New("the fused evaluation was stopped")

// Run is a dag.FusedRun. A member that native evaluation does not decide is to
// be asked on its own; all of them, when together they take longer than the most
// patient would alone.
func (f *FusedNative) Run(ctx context.Context, in *policy.Context, choice dag.Chosen, contribution []dag.FusedAnswer) error {
	r, chosen := f.runs.Get().(*fusedNativeRun), choice.Places
	defer f.release(r)
	r.input.event, r.steps.ctx, r.steps.limit, r.steps.given = in, ctx, f.budget, r.size
	r.machine.Machine.Path = 0
	if f.timely {
		r.of.start = dag.Now(ctx, r.steps.started().start)
	}
	all := f.remaining(chosen, &r.rest)
	var answers []native.Answer
	if all == nil || len(all) > 0 {
		answers = f.fused.Eval(&r.machine, &r.input, all)
	}
	if r.steps.spent {
		return errStopped
	}
	delivered, owner, k := r.delivered, r.owner, 0
	for i := 0; i < len(answers); {
		member, bailed, patch := answers[i].Member, false, native.Value(nil)
		patched := int32(-1)
		for ; i < len(answers) && answers[i].Member == member; i++ {
			a := &answers[i]
			bailed = bailed || a.Bailed
			if a.Defined && f.members[member].entries[a.Entry].part == partPatch {
				patched, patch = int32(a.Entry), a.Value
			}
		}
		own := 0
		for own < len(owner) && int(owner[own]) == member {
			own++
		}
		for chosen[k] != member {
			k++
		}
		mine := delivered[:own]
		if patched >= 0 {
			mine = withPatch(mine, patched, patch)
		}
		f.answer(&contribution[k], member, mine, bailed)
		delivered, owner = delivered[own:], owner[own:]
	}
	f.count(chosen, contribution)
	if f.members[0].eyes != nil {
		f.watched(ctx, in, r.machine.Machine.Path, choice, contribution)
	}
	return nil
}

// withPatch puts the patch where its entry point stands.
func withPatch(list []delivered, entry int32, v native.Value) []delivered {
	at := 0
	for at < len(list) && list[at].entry < entry {
		at++
	}
	out := append(append(make([]delivered, 0, len(list)+1), list[:at]...), delivered{entry, -1, v})
	return append(out, list[at:]...)
}

func (f *FusedNative) answer(contribution *dag.FusedAnswer, member int, list []delivered, bailed bool) {
	if bailed {
		contribution.Alone = true
		return
	}
	if len(list) == 0 {
		return
	}
	out, ok := f.members[member].answer(list)
	if !ok {
		contribution.Alone = true
		return
	}
	contribution.Result = out
}

// release gives the memory back without anything of the event.
func (f *FusedNative) release(r *fusedNativeRun) {
	clear(r.delivered)
	r.delivered, r.owner = r.delivered[:0], r.owner[:0]
	if cap(r.delivered) > keptValues {
		r.delivered, r.owner = nil, nil
	}
	r.input.event, r.steps, r.of = nil, stepBudget{}, evaluation{}
	r.machine.Machine.Learn()
	f.runs.Put(r)
}

package rego

import (
	"context"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/rego/thread"
)

// Native is a module whose entry points are native code, some of them or all:
// it says what the module says (docs/semantics.md, "Rego"). Whatever native
// evaluation does not decide, topdown does, for the whole module. It is immutable
// and safe for concurrent use; it implements policy.Teller.
type Native struct {
	name    string
	budget  time.Duration
	code    *native.Code
	slots   []slot
	input   projection
	entries []nativeEntry
	// timely says that some function may ask what time the evaluation has.
	timely bool
	// rest says that some entry points are topdown's.
	rest bool
	// alike says that the slots mean the same to every module.
	alike  bool
	engine string
	// evidence is what the code was compared with topdown on.
	evidence evidence
	// module is the module itself, which the first call may have to compile; the
	// error is why that cannot be.
	module func() (*Module, error)
	// loud is what speaks found, asked once: an edit asks every module of its
	// policy again.
	asked sync.Once
	loud  bool
	glance
	leaver
}

// nativeEntry is an entry point: its function in the code, or -1 for topdown's.
type nativeEntry struct {
	name string
	part part
	fn   int
	// many says that each value is one member of a set.
	many bool
	// at are where the rules are written, by the function's blocks.
	at []diag.Span
}

// Engine says how the module is evaluated, for explain: `rego(kernel)`, or by
// entry point where they differ.
func (n *Native) Engine() string { return n.engine }

// Run is Tell.
func (n *Native) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	r, err := n.Tell(ctx, in, attempt)
	if err != nil || r == nil {
		return policy.Result{}, err
	}
	return *r, nil
}

// Tell evaluates the module on an event; nil says nothing, and costs no memory.
// It fails as Module.Run does.
func (n *Native) Tell(ctx context.Context, in *policy.Context, _ int) (*policy.Result, error) {
	if n.rejected.Load() || !n.stays() {
		return n.topdown(ctx, in)
	}
	r := nativeRuns.Get().(*nativeRun)
	r.begin(ctx, n.budget, n.timely)
	r.input = eventInput{event: in, slots: n.slots, part: &n.input, steps: &r.steps}
	out, err := n.tell(r, in)
	path, fell := r.machine.Path, r.fell
	r.release()
	if n.eyes == nil || fell || n.settled(path) { // what fell is topdown's answer already
		return out, err
	}
	return n.doubted(ctx, in, path, out, err)
}

func (n *Native) tell(r *nativeRun, in *policy.Context) (*policy.Result, error) {
	for i := range n.entries {
		e := &n.entries[i]
		if e.fn < 0 {
			continue
		}
		r.entry = int32(i)
		if err := r.ask(n.code, e); err != nil {
			return n.fall(r, in)
		}
	}
	switch {
	case r.steps.spent:
		return nil, r.steps.failure()
	case n.rest:
		return n.mixed(r, in)
	case len(r.delivered) == 0:
		return nil, nil
	}
	out, ok := n.answer(r.delivered)
	if !ok {
		r.bare = true
		return n.fall(r, in)
	}
	return out, nil
}

// fall evaluates the module by topdown, unless there is no more time for it.
func (n *Native) fall(r *nativeRun, in *policy.Context) (*policy.Result, error) {
	r.fell = true
	if r.steps.spent {
		return nil, r.steps.failure()
	}
	if r.steps.madeUp {
		return nil, nil // It would be compared with itself.
	}
	m, err := n.module()
	if err != nil {
		return nil, err
	}
	steps := *r.steps.started() // whoever evaluates may hold on to it
	out, err := m.run(in, &steps)
	n.left(r, m, err)
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// mixed adds what topdown says of the other entry points.
func (n *Native) mixed(r *nativeRun, in *policy.Context) (*policy.Result, error) {
	m, err := n.module()
	if err != nil {
		return nil, err
	}
	if m.input.long(in) {
		r.steps.overrun(longNumber)
		return nil, r.steps.failure()
	}
	ask, others := m.others(n.entries)
	steps := *r.steps.started()
	a := answer{m: m, ctx: steps.ctx, input: ast.NewTerm(m.Input(in)), steps: &steps}
	values, err := m.values(ask, others, a.input, a.steps)
	if err != nil {
		return nil, err
	}
	rest := r.delivered
	for i := range n.entries {
		e := &n.entries[i]
		own := 0
		for own < len(rest) && rest[own].entry == int32(i) {
			own++
		}
		if !e.contribute(&a.result, n.name, rest[:own]) {
			r.bare = true
			return n.fall(r, in)
		}
		rest = rest[own:]
		if e.fn >= 0 {
			continue
		}
		if values[0] != nil {
			if err := a.add(m.entries[i], values[0]); err != nil {
				return nil, err
			}
		}
		values = values[1:]
	}
	return &a.result, nil
}

// answer makes a result of what entry points were told, in their order; false
// when it is topdown's to say.
func (n *Native) answer(delivered []delivered) (*policy.Result, bool) {
	out := new(policy.Result)
	for len(delivered) > 0 {
		own := 1
		for own < len(delivered) && delivered[own].entry == delivered[0].entry {
			own++
		}
		if !n.entries[delivered[0].entry].contribute(out, n.name, delivered[:own]) {
			return nil, false
		}
		delivered = delivered[own:]
	}
	return out, true
}

// nativeRun is the memory of one evaluation.
type nativeRun struct {
	machine   native.Machine
	input     eventInput
	steps     stepBudget
	of        evaluation
	delivered []delivered
	entry     int32
	// fell says that topdown was asked instead; bare, that native evaluation itself
	// had come to its end.
	fell  bool
	bare  bool
	yield func(block int, v native.Value) bool
	// given tells how much the evaluation was given.
	given func() int64
	code  *native.Code
}

// delivered is a value that a rule of an entry point gave: block is the rule's, -1
// when the value is not one rule's alone.
type delivered struct {
	entry, block int32
	v            native.Value
}

var nativeRuns = sync.Pool{New: func() any {
	r := &nativeRun{}
	r.machine.Stop = r.steps.stop
	r.machine.Context = &r.of
	r.machine.Budget = &r.steps
	r.given = func() int64 { return r.input.size() + native.Size(r.code.Program().Data) }
	r.yield = func(block int, v native.Value) bool {
		r.delivered = append(r.delivered, delivered{r.entry, int32(block), v})
		return true
	}
	return r
}}

func (r *nativeRun) begin(ctx context.Context, budget time.Duration, timely bool) {
	r.steps.ctx, r.steps.limit, r.steps.given = ctx, budget, r.given
	r.machine.Path, r.fell, r.bare = 0, false, false
	if timely {
		r.of.start = dag.Now(ctx, r.steps.started().start)
	}
}

// release gives the memory back without anything of the event.
func (r *nativeRun) release() {
	clear(r.delivered)
	r.delivered = r.delivered[:0]
	if cap(r.delivered) > keptValues {
		r.delivered = nil
	}
	r.input, r.steps, r.of, r.code, r.fell = eventInput{}, stepBudget{}, evaluation{}, nil, false
	r.machine.Learn()
	nativeRuns.Put(r)
}

// keptValues is how many values a nativeRun has room for when it is used again.
const keptValues = 256

// ask evaluates an entry point.
func (r *nativeRun) ask(code *native.Code, e *nativeEntry) error {
	r.code = code
	if e.part != partPatch {
		return code.Rules(&r.machine, e.fn, &r.input, r.yield)
	}
	v, defined, err := code.Eval(&r.machine, e.fn, &r.input)
	if err == nil && defined {
		r.yield(-1, v)
	}
	return err
}

// stop is a native.Stop: the clock is looked at every few hundred of native's
// steps, which are shorter than topdown's.
func (b *stepBudget) stop() bool {
	b.started().glance()
	return b.spent
}

// started is the budget, begun now if it was not.
func (b *stepBudget) started() *stepBudget {
	if b.start.IsZero() {
		b.start, b.at = time.Now(), thread.Read()
	}
	return b
}

// Roof and Overrun make a stepBudget a native.Budget.
func (b *stepBudget) Roof() int64 { return b.roof() }

// Overrun ends the evaluation.
func (b *stepBudget) Overrun(digits bool) {
	if digits {
		b.overrun(longNumber)
		return
	}
	b.overrun(muchMemory)
}

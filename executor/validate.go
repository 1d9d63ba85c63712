package executor

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

const (
	// ValidateEvents is how many mock events a plan is validated with.
	ValidateEvents = 200
	// ValidateTime bounds the validation of one plan; a large plan is then
	// validated with fewer events.
	ValidateTime = 250 * time.Millisecond
)

// Validate compares a plan with its serial definition (translation
// validation): mock events go through the scheduler and through Serial, with
// mock bodies that answer from what they are given, in random orders of
// completion and with random deadlines. Whole Decisions, the calls of hooks
// that write the world in order, and the calls of all hooks that are not
// speculative must agree. The error names the first event that tells them
// apart. It depends on nothing but the plan, up to the time bound; it runs no
// real body.
func Validate(prog *dag.Program, plan *dag.Plan) error {
	stop := time.Now().Add(ValidateTime)
	for i := range uint64(ValidateEvents) {
		if err := validateEvent(prog, plan, i); err != nil {
			return err
		}
		if time.Now().After(stop) {
			break
		}
	}
	return nil
}

func validateEvent(prog *dag.Program, plan *dag.Plan, seed uint64) error {
	m := newMock(plan, seed)
	in := m.event()
	want, calls := Serial(prog, m.plan, in, m)
	got, made, err := m.scheduled(prog, in)
	if err == nil {
		err = Agree(want, got, calls, made)
	}
	if err != nil {
		text, _ := in.MarshalJSON()
		return fmt.Errorf("the plan of %s differs from its serial definition on mock event %d %s: %w", plan.Event, seed, text, err)
	}
	return nil
}

// Agree reports how two evaluations of a plan differ in what can be observed
// (semantics.md §5.1): their Decisions, but for times and for what became of
// hooks after the halt, and the calls they made.
func Agree(want, got *policy.Decision, wantCalls, gotCalls []Call) error {
	if err := sameDecision(want, got); err != nil || lists.Equal(wantCalls, gotCalls) {
		return err // equal calls mostly, and then no texts of them are made
	}
	wantWrites, gotWrites := writes(wantCalls), writes(gotCalls)
	if !lists.Equal(wantWrites, gotWrites) {
		return fmt.Errorf("calls that write the world: serial %q, scheduled %q", wantWrites, gotWrites)
	}
	wantBound, gotBound := bound(wantCalls), bound(gotCalls)
	if !lists.Equal(wantBound, gotBound) {
		return fmt.Errorf("calls that are not speculative: serial %q, scheduled %q", wantBound, gotBound)
	}
	return nil
}

func sameDecision(want, got *policy.Decision) error {
	w, g := observable(want), observable(got)
	if want.Final == got.Final && reflect.DeepEqual(w, g) { // mostly, and then their JSON is equal too
		return nil
	}
	a, errA := w.MarshalJSON()
	b, errB := g.MarshalJSON()
	if errA != nil || errB != nil {
		return fmt.Errorf("a Decision has no JSON: %v %v", errA, errB)
	}
	if !bytes.Equal(a, b) || !reflect.DeepEqual(w.Hooks, g.Hooks) || !lists.Equal(w.Failed, g.Failed) {
		return fmt.Errorf("decisions: serial %s, scheduled %s", a, b)
	}
	a, errA = want.Final.MarshalJSON()
	b, errB = got.Final.MarshalJSON()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return fmt.Errorf("final contexts: serial %s, scheduled %s %v %v", a, b, errA, errB)
	}
	return nil
}

// observable is a Decision without what only a clock can tell.
func observable(d *policy.Decision) *policy.Decision {
	out := *d
	out.Hooks = lists.Copy(d.Hooks)
	for i := range out.Hooks {
		t := &out.Hooks[i]
		t.Micros = 0
		if t.Status == policy.StatusSquashed {
			t.Status, t.Attempts = policy.StatusNotStarted, 0
		}
	}
	return &out
}

// writes lists the calls of hooks that write the world, in order; the order
// within one item is erased.
func writes(calls []Call) (out []string) {
	from, item := 0, -1
	for _, c := range calls {
		if c.Node.Effects.World == policy.WorldWrite {
			if c.Node.Item != item {
				from, item = len(out), c.Node.Item
			}
			out = append(out, c.text())
			lists.Sort(out[from:])
		}
	}
	return out
}

// bound lists the calls of hooks that may not be started early, as a set.
func bound(calls []Call) []string {
	var out []string
	for _, c := range calls {
		if !c.Node.Effects.Spec {
			out = append(out, c.text())
		}
	}
	lists.Sort(out)
	return out
}

// text is a call as it can be observed: the hook, the attempt and what the
// hook could read.
func (c Call) text() string {
	in, err := c.In.Project(c.Node.Effects.Reads).MarshalJSON()
	if err != nil {
		return fmt.Sprintf("%s #%d: %v", c.Node.Hook.Name, c.Attempt, err)
	}
	copied := ""
	if c.Node.RecheckOf >= 0 {
		copied = "'"
	}
	return fmt.Sprintf("%s%s #%d %s", c.Node.Hook.Name, copied, c.Attempt, in)
}

// mockHands complete what was started in a random order, without goroutines
// and without a clock. A body is called when it completes: what the world sees
// of bodies that run at the same time may come in any order.
type mockWorkers struct {
	m       *mock
	rng     *rand.Rand
	pending []started
	calls   []Call
}

// started is a node in flight and what it was given.
type started struct {
	node int
	in   *policy.Context
}

// scheduled runs the event through the scheduler.
func (m *mock) scheduled(prog *dag.Program, in *policy.Context) (*policy.Decision, []Call, error) {
	h := &mockWorkers{m: m, rng: rand.New(rand.NewPCG(m.seed, 1))}
	x := &Executor{prog: prog}
	w := newSchedule(m.plan, &Options{})
	m.received = &h.calls
	f := newRun(x, w, w.picks.pick(in), in, h)
	if !f.run(context.Background()) {
		return nil, nil, fmt.Errorf("the scheduler gave up")
	}
	return decide(prog, m.plan, in, f.after, f.answer), h.calls, nil
}

func (h *mockWorkers) start(_ context.Context, i int, in *policy.Context) {
	h.pending = append(h.pending, started{i, in})
}

func (h *mockWorkers) detach(_ context.Context, i int, in *policy.Context) *policy.Warning {
	h.calls = append(h.calls, Call{&h.m.plan.Nodes[i], 0, in})
	return nil
}

func (h *mockWorkers) stop(i int) {
	h.pending = lists.Without(h.pending, func(s *started) bool { return s.node == i })
}

func (h *mockWorkers) next(context.Context) (report, bool) {
	i := h.rng.IntN(len(h.pending))
	s := h.pending[i]
	h.pending = slices.Delete(h.pending, i, i+1)
	return h.complete(s.node, s.in), true
}

// complete makes a node's attempts.
func (h *mockWorkers) complete(i int, in *policy.Context) report {
	n := &h.m.plan.Nodes[i]
	late := h.m.Late(n)
	r := report{node: i, gone: true}
	for a := 0; ; a++ {
		if late >= 0 && a >= late {
			r.err = lateError(h.m.plan, a)
			return r
		}
		r.attempts++
		h.calls = append(h.calls, Call{n, a, in})
		if late == a+1 && cuts(h.m.plan) {
			r.err = lateError(h.m.plan, a+1)
			return r
		}
		r.out, r.err = ask(context.Background(), n.Runner, in, a)
		if r.err == nil || a == n.Retry {
			return r
		}
	}
}

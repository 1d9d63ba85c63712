package executor

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strconv"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// mock is a World, and a plan with mock bodies, drawn from a seed. A mock body
// answers as a function of the seed, its hook, the attempt and what it is given
// of what it may read, so that a wrong input shows in the answer.
type mock struct {
	plan *dag.Plan
	seed uint64
	late map[*dag.Node]int
	// words are values that filters of the plan compare with, by field.
	words map[policy.Field][]string
	// heard, if not nil, notes the calls of in-process bodies, which the
	// scheduler makes itself.
	received *[]Call
}

// mockWords are values for fields no filter compares with a constant; few, so
// that hooks agree and disagree.
var mockWords = []string{"x", "y", "z"}

func newMock(plan *dag.Plan, seed uint64) *mock {
	m := &mock{seed: seed, late: map[*dag.Node]int{}, words: map[policy.Field][]string{}}
	copied := *plan
	copied.Nodes = lists.Copy(plan.Nodes)
	m.plan = &copied
	rng := m.rng("late", 0)
	deadline := rng.IntN(4) == 0
	for i := range copied.Nodes {
		n := &copied.Nodes[i]
		n.Runner = m.body(n)
		if n.Exempt() {
			n.Timeout = 0 // a budget is looked up on a clock, and here there is none
		}
		if n.Matcher != nil {
			for _, atom := range n.Matcher.Atoms {
				m.words[atom.Field] = append(m.words[atom.Field], atom.Values...)
			}
		}
		m.late[n] = -1
		if deadline && !n.Exempt() && !n.Hook.Async && rng.IntN(4) == 0 {
			m.late[n] = rng.IntN(n.Retry + 2)
		}
	}
	m.fuse()
	return m
}

// fuse gives the fusions of the plan the mock bodies of their members.
func (m *mock) fuse() {
	m.plan.Fused = lists.Copy(m.plan.Fused)
	for i := range m.plan.Fused {
		x := &m.plan.Fused[i]
		x.Run = func(ctx context.Context, in *policy.Context, chosen dag.Chosen, contributed []dag.FusedAnswer) error {
			for k, place := range chosen.Places {
				out, err := m.plan.Nodes[x.Nodes[place]].Runner.Run(ctx, in, 0)
				if err != nil {
					return err
				}
				contributed[k].Result = &out
			}
			return nil
		}
	}
}

func (m *mock) rng(text string, attempt int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(text))
	return rand.New(rand.NewPCG(m.seed, h.Sum64()+uint64(attempt)*0x9e3779b97f4a7c15))
}

func (m *mock) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	if n.Hook.Async {
		return policy.Result{}, nil
	}
	return n.Runner.Run(context.Background(), in, attempt)
}

func (m *mock) Late(n *dag.Node) int        { return m.late[n] }
func (m *mock) Memo(string) (*Answer, bool) { return nil, false }
func (m *mock) Store(string, *Answer)       {}

// event is a context for the plan's event: each field that some node reads or
// writes is there or not, with a value that may matter.
func (m *mock) event() *policy.Context {
	rng := m.rng("event", 0)
	c := policy.NewContext(m.plan.Event).Set(policy.FieldProjectRoot, "/repo").Set(policy.FieldCwd, "/repo").
		Set(policy.FieldSessionID, "s")
	paths := lists.Copy(m.plan.Reads.All())
	for i := range m.plan.Nodes {
		n := &m.plan.Nodes[i]
		paths = append(paths, n.Reads.All()...)
		paths = append(paths, n.Effects.Reads.All()...)
		paths = append(paths, n.Effects.Writes.All()...)
	}
	seen := map[string]bool{}
	for _, p := range paths {
		f := p.Field
		if seen[p.String()] || f.Derived() || f.Spec().Always || !m.plan.Spec.CanRead(f) || rng.IntN(4) == 0 {
			continue
		}
		seen[p.String()] = true
		if len(p.Keys) == 0 && c.Has(f) {
			continue
		}
		c = c.With(policy.Replace(p, m.value(rng, p)))
	}
	return c
}

// value is a value of the right type for a path.
func (m *mock) value(rng *rand.Rand, p policy.Path) any {
	words := m.words[p.Field]
	if len(p.Keys) > 0 || len(words) == 0 || rng.IntN(3) == 0 {
		words = mockWords
	}
	word := words[rng.IntN(len(words))]
	if len(p.Keys) > 0 {
		return word
	}
	switch p.Field.Spec().Type {
	case policy.NumberType:
		return rng.IntN(3)
	case policy.BoolType:
		return rng.IntN(2) == 0
	case policy.ObjectType:
		return map[string]any{"k": word, "command": word, "file_path": "/repo/" + word}
	case policy.ListType:
		return []any{map[string]any{"role": "user", "content": word}}
	}
	return word
}

// body is the mock body of a node.
func (m *mock) body(n *dag.Node) policy.Runner {
	effects := n.Effects
	var last *policy.Context
	var seen []byte // what it read of the last
	return policy.RunnerFunc(func(_ context.Context, in *policy.Context, attempt int) (policy.Result, error) {
		if m.received != nil && n.Exempt() {
			*m.received = append(*m.received, Call{n, attempt, in})
		}
		if in != last {
			var err error
			if seen, err = in.Project(effects.Reads).MarshalJSON(); err != nil {
				return policy.Result{}, err
			}
			last = in
		}
		rng := m.rng(n.Hook.Name+"\x00"+string(seen), attempt)
		if effects.MayFail && rng.IntN(5) == 0 {
			kind := []policy.ErrKind{policy.ErrExit, policy.ErrParse, policy.ErrTimeout}[rng.IntN(3)]
			return policy.Result{}, policy.Failf(kind, "mock failure %d", rng.IntN(3))
		}
		return m.answer(rng, &effects), nil
	})
}

// answer is what a body says, mostly within its declarations.
func (m *mock) answer(rng *rand.Rand, effects *policy.Effects) policy.Result {
	var r policy.Result
	if rng.IntN(2) == 0 {
		r.Verdict = policy.Verdict(rng.IntN(int(policy.Deny) + 1))
	}
	if rng.IntN(4) == 0 {
		r.Control = policy.Control(rng.IntN(int(policy.Halt) + 1))
	}
	if rng.IntN(8) > 0 && !effects.May.Verdict(r.Verdict) {
		r.Verdict = policy.None
	}
	if rng.IntN(8) > 0 && !effects.May.Control(r.Control) {
		r.Control = policy.Go
	}
	word := strconv.Itoa(rng.IntN(1000))
	r.Reasons = []policy.Reason{{Text: "reason " + word}}
	if rng.IntN(3) == 0 {
		r.Feedback = []string{"feedback " + word}
	}
	if rng.IntN(3) == 0 {
		r.Context = []string{"context " + word}
	}
	if rng.IntN(3) == 0 {
		r.System = []string{"system " + word}
	}
	r.Suppress = rng.IntN(16) == 0
	for _, p := range effects.Writes.All() {
		switch rng.IntN(4) {
		case 0:
			r.Patch = r.Patch.Then(policy.Replace(p, m.value(rng, p)))
		case 1:
			if len(p.Keys) > 0 {
				r.Patch = r.Patch.Then(policy.Remove(p))
			} else if p.Field.Spec().Type == policy.ObjectType {
				r.Patch = r.Patch.Then(policy.Merge(p.Field, map[string]any{"k": word}))
			}
		}
	}
	if effects.Writes.Covers(policy.Path{Field: policy.FieldToolConfig}) {
		r.ToolConfig = &policy.ToolConfig{Mode: "ANY", Names: []string{word}}
	}
	return r
}

// MockEvent is an event that a plan is validated with, drawn from a seed: what
// its hooks read is there or not, with values that its filters compare with.
// Equal plans and seeds give equal events.
func MockEvent(plan *dag.Plan, seed uint64) *policy.Context { return newMock(plan, seed).event() }

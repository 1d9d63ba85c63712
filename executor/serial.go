package executor

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// World is everything impure about running a chain, so that the definition
// itself is a function.
type World interface {
	// Call makes one attempt at a node's body. For an async node it only
	// starts it.
	Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error)
	// Late is -1 when the node is in time, else the attempt, from 1, in which
	// the chain deadline strikes it; 0 is before it starts.
	Late(n *dag.Node) int
	// Memo and Store are the duplicate guard.
	Memo(key string) (*Answer, bool)
	Store(key string, a *Answer)
}

// Timeless is what a World has beside Call in which nothing is late or remembered.
type Timeless struct{}

func (Timeless) Late(*dag.Node) int          { return -1 }
func (Timeless) Memo(string) (*Answer, bool) { return nil, false }
func (Timeless) Store(string, *Answer)       {}

// Call is one attempt that was made and what the body was given.
type Call struct {
	Node    *dag.Node
	Attempt int
	In      *policy.Context
}

// Answer is what a chain comes to and what each node did.
type Answer struct {
	Result policy.Result
	Hooks  []policy.HookTrace
	// rewrites are the changes of session hooks, before is what the first of them
	// saw: no part of what is remembered.
	rewrites []changed
	before   *policy.Context
}

// Serial is the definition of what a plan means (semantics.md §7.1): its
// items in order, each seeing what those before it changed, until one halts.
// It looks at items, hooks, filters and declared effects; never at edges,
// slots, gates or the index. in must be frozen for the plan's event.
func Serial(prog *dag.Program, plan *dag.Plan, in *policy.Context, w World) (*policy.Decision, []Call) {
	key := guardKey(prog, plan, in)
	if key != "" {
		if a, ok := w.Memo(key); ok {
			a = a.again(plan)
			return decide(prog, plan, in, in.With(a.Result.Patch), a), nil
		}
	}
	c := chain{plan: plan, world: w, answer: Answer{Hooks: blankTrace(plan)}}
	after := c.run(in)
	c.answer.finish(plan, after)
	if key != "" && c.answer.lasting(plan) {
		w.Store(key, &c.answer)
	}
	return decide(prog, plan, in, after, &c.answer), c.calls
}

type chain struct {
	plan   *dag.Plan
	world  World
	answer Answer
	calls  []Call
	entry  *policy.Context
}

func (c *chain) run(s *policy.Context) *policy.Context {
	c.entry = s
	res := &c.answer.Result
	for _, item := range c.plan.Items {
		var block policy.Result
		for _, m := range item.Members { // all see s: one hook, or a group
			r := c.hook(m, s)
			if c.plan.Nodes[m].RecheckOf >= 0 {
				r = r.Recheck(res)
			}
			block = c.plan.Join(&item, block, r)
		}
		s = c.answer.advance(c.plan, s, &block)
		if c.plan.Strategy.Halt.Halts(&block) {
			break
		}
	}
	return s
}

// hook is what one hook says in context s: nothing when its filter does not
// match or it is async, else its masked answer, or what its failure means.
func (c *chain) hook(id int, s *policy.Context) policy.Result {
	n, t := &c.plan.Nodes[id], &c.answer.Hooks[id]
	if !matches(n, c.entry, s) {
		t.Status = policy.StatusFiltered
		return policy.Result{}
	}
	in, late := project(n, s), c.world.Late(n)
	for a := 0; ; a++ {
		if late >= 0 && a >= late {
			return c.contribute(id, nil, lateError(c.plan, a))
		}
		t.Attempts++
		c.calls = append(c.calls, Call{n, a, in})
		if late == a+1 && cuts(c.plan) {
			return c.contribute(id, nil, lateError(c.plan, a+1))
		}
		out, err := c.world.Call(n, in, a)
		if n.Hook.Async {
			t.Status = policy.StatusAsync
			return policy.Result{Warnings: out.Warnings}
		}
		if err == nil || a == n.Retry || policy.KindOf(err) == policy.ErrDeadline {
			return c.contribute(id, &out, err)
		}
	}
}

func (c *chain) contribute(id int, out *policy.Result, err error) policy.Result {
	n := &c.plan.Nodes[id]
	r, err := contribution(c.plan, n, c.entry, out, err)
	c.answer.record(id, n, &r, err)
	return r
}

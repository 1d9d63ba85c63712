// Package executor runs programs. serial.go is the definition of what a
// program means: its hooks one after another. Everything else here is an
// optimisation that must be observably equal to it (semantics.md §5): hooks
// run early, together or not at all, and their results retire in item order.
package executor

import (
	"context"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/group"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// Options are what an Executor takes from its host. The zero Options are
// usable.
type Options struct {
	// Observe is told of every node a firing settled, on the goroutine that
	// settled it; it must be safe for concurrent use and return quickly.
	Observe func(Run)
	// Count gives what counts the runs of one node: it is told what Observe is,
	// before it, and costs less. A node is asked for when the Executor is made,
	// and with every run if the node is async.
	Count func(*dag.Node) func(s policy.Status, attempts int, took time.Duration)
	// Filtered gives one counter of the firings of a plan in which every node was
	// filtered but some: it is given those, of which Count is told as always. done
	// says that it counts no more. Without it, and where few are filtered, Count is
	// told of each.
	Filtered func(*dag.Plan) (but func(nodes []int), done func())
	// Together gives one counter of the firings in which the first of some nodes of
	// the plan, which ascend, were each evaluated once and took so long; others says
	// that Filtered counts all others of the firing, and then every one of them
	// was. done says that it counts no more. Without it Count is told of each.
	Together func(plan *dag.Plan, nodes []int) (ran func(first int, took time.Duration, others bool), done func())
	// MaxAsync bounds the async hooks at a time; 0 is 16. More are dropped, counted and reported.
	MaxAsync int
	// Async, when set, takes over async hooks: a one-shot process hands them
	// to a supervisor that outlives it. An error is reported in the Decision; a
	// durable.NotKeptError is no reason to drop the hook.
	// It must return at once and be safe for concurrent use.
	Async func(ctx context.Context, n *dag.Node, in *policy.Context) error
	// GuardSize bounds the answers the duplicate guard remembers; 0 is 1024.
	GuardSize int
	// Memo keeps the duplicate guard's answers beyond this process, or is nil.
	Memo Memo
	// Gates counts consecutive gate blocks; nil counts in this process.
	Gates Gates
	// Fire is how a pipeline fires its events, for a host with several
	// executors; nil is the executor itself. The Decision has its Final set.
	Fire func(ctx context.Context, e policy.Event, in *policy.Context) *policy.Decision
	// MaxGateBlocks is how often running a gate may send the agent back to work; 0 is 8.
	MaxGateBlocks int
	// SpareEvents is that nobody keeps an event, observers and hooks of Go included.
	SpareEvents bool
}

// Run is what one node did in one firing, for metrics.
type Run struct {
	Event  policy.Event
	Node   *dag.Node
	Status policy.Status
	// Err is why the node failed, nil unless it did.
	Err error
	// Attempts counts the calls made; those after the first are retries.
	Attempts int
	// Took is how long the node took, retries included.
	Took time.Duration
}

// Executor fires events at one program. It is safe for concurrent use.
type Executor struct {
	prog      *dag.Program
	options   Options
	schedules map[policy.Event]*schedule
	guard     *guard
	gates     Gates
	async     *pool
	// running counts the goroutines of firings, those whose answer nobody waits
	// for included.
	running group.Growing
}

// New returns an Executor of prog.
func New(prog *dag.Program, options Options) *Executor {
	if options.MaxAsync <= 0 {
		options.MaxAsync = 16
	}
	if options.GuardSize <= 0 {
		options.GuardSize = 1024
	}
	if options.MaxGateBlocks <= 0 {
		options.MaxGateBlocks = 8
	}
	if options.Gates == nil {
		options.Gates = newGateCounts()
	}
	x := &Executor{prog: prog, options: options, gates: options.Gates, schedules: map[policy.Event]*schedule{}}
	if x.options.Fire == nil {
		x.options.Fire = x.Fire
	}
	x.guard = newGuard(prog, options.GuardSize, options.Memo)
	x.async = newPool(options)
	for _, plan := range prog.Plans {
		w := newSchedule(plan, &options)
		w.absent = absentees(prog, plan)
		x.schedules[plan.Event] = w
	}
	return x
}

// Fire decides event e in context in, which it does not change. The Decision
// is never nil; when ctx ends first its action is cancelled and the caller
// decides.
func (x *Executor) Fire(ctx context.Context, e policy.Event, in *policy.Context) *policy.Decision {
	return x.FireInto(ctx, e, in, new(Reused))
}

// FireSerial is Fire through the definition: one hook after another, with the
// same bodies, time limits, guard and gates.
func (x *Executor) FireSerial(ctx context.Context, e policy.Event, in *policy.Context) *policy.Decision {
	return x.FireFailing(ctx, e, in, func(*dag.Node) error { return nil })
}

// FireFailing is FireSerial where fails says why a node that is waited for cannot be
// evaluated: it fails.
func (x *Executor) FireFailing(ctx context.Context, e policy.Event, in *policy.Context, fails func(*dag.Node) error) *policy.Decision {
	return x.fire(ctx, e, in, func(ctx context.Context, w *schedule, in *policy.Context) *policy.Decision {
		return x.serially(ctx, w, in, fails)
	})
}

// FireInto is Fire into memory that was used before. The Decision is not to be
// changed, and holds until the memory is used again. Where in is Frozen for e
// and every hook it concerns is a rule in expr, or in Rego that is native code, and
// says nothing, nothing is allocated; the hooks it does not concern cost no time,
// and those that are evaluated together next to none.
func (x *Executor) FireInto(ctx context.Context, e policy.Event, in *policy.Context, m *Reused) *policy.Decision {
	in = in.Frozen(e)
	if !x.options.SpareEvents {
		m.made = nil
	}
	if w := x.schedules[e]; w != nil && ctx.Err() == nil && !w.memoised {
		if p := w.picks.pick(in); p.inline {
			return x.directly(ctx, w, p, in, m)
		}
	}
	m.in, m.of, m.made = nil, nil, nil
	m.decision = *x.fire(ctx, e, in, x.guarded)
	return &m.decision
}

type fireFunc func(ctx context.Context, w *schedule, in *policy.Context) *policy.Decision

func (x *Executor) fire(ctx context.Context, e policy.Event, in *policy.Context, how fireFunc) *policy.Decision {
	in = in.Frozen(e)
	w := x.schedules[e]
	var d *policy.Decision
	switch {
	case ctx.Err() != nil:
		return x.cancelled(e, in, nil)
	case w == nil:
		d = decide(x.prog, &dag.Plan{Spec: e.Spec(), Strategy: &policy.StrategySpec{}}, in, in, &Answer{})
	default:
		d = how(ctx, w, in)
		d.Hooks = w.listed(d.Hooks)
	}
	x.judge(d, e.Spec(), in)
	return d
}

// decide makes a Decision of the answer of a plan's chain.
func decide(prog *dag.Program, plan *dag.Plan, before, after *policy.Context, a *Answer) *policy.Decision {
	d := new(policy.Decision)
	decideInto(d, prog, plan, before, after, a)
	return d
}

func decideInto(d *policy.Decision, prog *dag.Program, plan *dag.Plan, before, after *policy.Context, a *Answer) {
	after, last := plan.Strategy.Conclude(before, after, &a.Result)
	policy.DecideInto(d, plan.Spec, before, after, last)
	d.Hooks = a.Hooks
	d.Policy = prog.Hash
	if len(prog.Warnings) > 0 {
		d.Warnings = lists.Concat(d.Warnings, prog.Warnings)
	}
}

func (x *Executor) cancelled(e policy.Event, in *policy.Context, hooks []policy.HookTrace) *policy.Decision {
	return &policy.Decision{Event: e, Action: policy.Cancelled, Hooks: hooks, Policy: x.prog.Hash,
		Warnings: lists.Copy(x.prog.Warnings), Final: in}
}

// run evaluates a chain by the cheapest way that its picked nodes allow; ok
// is false when ctx ended first.
func (x *Executor) run(ctx context.Context, w *schedule, in *policy.Context) (a *Answer, after *policy.Context, ok bool) {
	p := w.picks.pick(in)
	if p.inline {
		return x.inline(ctx, w, p, in)
	}
	return x.scheduled(ctx, w, p, in)
}

// Concerns reports whether some node of the event's plan can match the tool, ""
// for an event that may name none. It errs only towards yes.
func (x *Executor) Concerns(e policy.Event, tool string) bool {
	w := x.schedules[e]
	return w != nil && (w.picks.tool(tool).count > 0 || tool == "" && w.picks.absent.count > 0)
}

// counting is what counts the runs of a node.
func (o *Options) counting(n *dag.Node) func(policy.Status, int, time.Duration) {
	if o.Count == nil {
		return func(policy.Status, int, time.Duration) {}
	}
	return o.Count(n)
}

// report reports what node i of a plan did.
func (x *Executor) report(w *schedule, i int, s policy.Status, attempts int, took time.Duration, err error) {
	w.count[i](s, attempts, took)
	if x.options.Observe != nil {
		x.options.Observe(Run{Event: w.plan.Event, Node: &w.plan.Nodes[i], Status: s, Err: err, Attempts: attempts, Took: took})
	}
}

// Close waits until nothing that Fire started is left: async hooks get two
// seconds to end on their own, squashed and timed-out ones are already being
// ended, firings under way finish. Fire must not be called afterwards.
func (x *Executor) Close() {
	x.async.drain(drainTime)
	x.running.Wait()
	for _, w := range x.schedules {
		if w.done != nil {
			w.done()
		}
		w.counters.close()
	}
}

package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

const (
	defaultProcesses = 8
	defaultModels    = 4
)

// workers run the nodes that leave the caller's goroutine. The scheduler decides
// what runs when; who runs it is a seam, so that validation can play every
// order of completion without a clock.
type workers interface {
	// start begins node n in context in and returns at once.
	start(ctx context.Context, n int, in *policy.Context)
	// detach begins async node n and forgets it.
	detach(ctx context.Context, n int, in *policy.Context) *policy.Warning
	// stop says that n's answer is no longer wanted.
	stop(n int)
	// next waits for a report; ok is false when ctx ended first.
	next(ctx context.Context) (r report, ok bool)
}

// report is what workers say about a node, or that the chain deadline passed.
type report struct {
	node     int
	out      *policy.Result
	err      error
	attempts int
	took     time.Duration
	// gone is true when nothing of the node is running any more. An answer may
	// come before: a body whose time is up is not waited for.
	gone    bool
	overdue bool
}

// nodeState is the state of one node in one firing.
type nodeState struct {
	left int32
	// input is what the node is called with, once its filter has matched.
	input *policy.Context
	// result is what it contributes, nil for nothing; answered is true once that
	// is known.
	result   *policy.Result
	answered bool
	// begun, gone: its body has been started; nothing of it is left.
	begun, gone bool
	status      policy.Status
	attempts    int
	took        time.Duration
	err         error
}

// itemState is the state of one item.
type itemState struct {
	// open counts the members that have not answered.
	open  int
	halts bool
}

// run is one firing of a plan. Its state belongs to the caller's goroutine.
//
// Nodes wait for what the plan says and look only at nodes they wait for. A
// node whose turn has come is evaluated at once if it is in-process (ready),
// else it is started as soon as there is room, smallest position first
// (queue). Items retire in order (retire.go).
type run struct {
	x       *Executor
	w       *schedule
	pick    *pick
	entry   *policy.Context
	workers workers
	watch   watch

	nodes        []nodeState
	items        []itemState
	ready, queue set
	versions     []version
	fused        fusing
	// processes and models count what is in flight.
	processes, models int
	// gate indexes w.gates: those before it are open.
	gate int
	// halt is the first item known to halt, len(parts) for none: nothing after
	// it is started any more.
	halt int
	// head is the first item that has not retired; over is true once the
	// answer is complete.
	head    int
	over    bool
	overdue bool
	answer  *Answer
	after   *policy.Context
}

func newRun(x *Executor, w *schedule, p *pick, in *policy.Context, h workers) *run {
	n := len(w.plan.Nodes)
	f := &run{x: x, w: w, pick: p, entry: in, workers: h, watch: newWatch(),
		nodes: make([]nodeState, n), items: make([]itemState, len(w.plan.Items)), ready: newSet(n), queue: newSet(n),
		halt: len(w.plan.Items), over: len(w.plan.Items) == 0, answer: &Answer{Hooks: lists.Copy(w.blank)}, after: in}
	for i := range f.items {
		f.items[i].open = len(w.plan.Items[i].Members)
	}
	for i := range f.nodes {
		f.nodes[i].left, f.nodes[i].status = w.left[i], policy.StatusNotStarted
	}
	return f
}

// run fires; it is false when ctx ended before the answer was complete.
func (f *run) run(ctx context.Context) bool {
	for i := range f.nodes {
		if f.nodes[i].left == 0 {
			f.turn(i)
		}
	}
	f.openGates()
	for !f.over {
		switch {
		case ctx.Err() != nil, f.queue.from(0) >= 0 && passed(ctx):
			f.writeOff()
			return false
		case f.settle(ctx):
		case f.launch(ctx):
		default:
			if f.processes+f.models == 0 {
				panic(fmt.Sprintf("executor: the plan of %s waits for itself", f.w.plan.Event))
			}
			r, ok := f.workers.next(ctx)
			if !ok {
				f.writeOff()
				return false
			}
			f.watch.lap()
			f.take(r)
		}
	}
	return true
}

func (f *run) node(i int) *dag.Node { return &f.w.plan.Nodes[i] }

// turn notes that nothing node i waits for is left. A node that cannot match
// still takes its turn: others wait for those before it through it.
func (f *run) turn(i int) {
	h := f.node(i).Hook
	if !f.pick.nodes.has(i) || h.Kind.InProcess() && !h.Async {
		f.ready.add(i)
		return
	}
	f.queue.add(i)
}

func (f *run) release(nodes []int32) {
	for _, i := range nodes {
		if f.nodes[i].left--; f.nodes[i].left == 0 {
			f.turn(int(i))
		}
	}
}

// settle evaluates the first in-process node whose turn has come; it is false
// when there is none.
func (f *run) settle(ctx context.Context) bool {
	i := f.ready.from(0)
	if i < 0 {
		return false
	}
	f.ready.remove(i)
	n, c := f.node(i), &f.nodes[i]
	if n.Item > f.halt {
		return true
	}
	if !f.pick.nodes.has(i) || !f.admit(i) {
		f.skip(i)
		return true
	}
	f.watch.lap() // what came before, starting a process for one, is not the node's time
	attempts, err := 1, error(nil)
	out, took, ok := f.fused.answer(ctx, f.w, f.pick, i, c.input, &f.watch)
	if !ok {
		out, attempts, err = evaluate(ctx, n, c.input, f.watch.last, newBudget(ctx, f.watch.start))
		took = f.watch.lap()
	}
	c.attempts, c.took, c.begun, c.gone = attempts, took, true, true
	if ctx.Err() == nil {
		f.contribute(i, out, err)
	}
	return true
}

// launch starts queued nodes while there is room. It is true when a node was
// settled without being started, as in-process nodes may have their turn now.
func (f *run) launch(ctx context.Context) bool {
	for i := f.queue.from(0); i >= 0; i = f.queue.from(i + 1) {
		n, c := f.node(i), &f.nodes[i]
		switch {
		case n.Item > f.halt:
			f.queue.remove(i)
		case c.input == nil && !f.admit(i):
			f.queue.remove(i)
			f.skip(i)
			return true
		case n.Hook.Async:
			f.queue.remove(i)
			f.detach(ctx, i)
			return true
		case f.overdue:
			f.queue.remove(i)
			c.gone = true
			f.contribute(i, nil, lateError(f.w.plan, 0))
			return true
		case f.room(n):
			f.queue.remove(i)
			*f.counter(n)++
			c.begun = true
			f.release(f.w.afterStart[i])
			f.workers.start(ctx, i, c.input)
		}
	}
	return false
}

// admit reports whether the filter of node i, whose turn it is, lets it run,
// and fixes its input. Both see exactly the version the node waited for.
func (f *run) admit(i int) bool {
	n := f.node(i)
	s := f.version(i)
	if !matches(n, f.entry, s) {
		return false
	}
	f.nodes[i].input = project(n, s)
	return true
}

// skip settles a node whose filter does not match.
func (f *run) skip(i int) {
	f.nodes[i].status = policy.StatusFiltered
	f.nodes[i].gone = true
	f.settled(i)
}

// detach hands an async node over. For later nodes only its start counts.
func (f *run) detach(ctx context.Context, i int) {
	c := &f.nodes[i]
	c.status, c.attempts, c.begun, c.gone = policy.StatusAsync, 1, true, true
	if w := f.workers.detach(ctx, i, c.input); w != nil {
		c.result = &policy.Result{Warnings: []policy.Warning{*w}}
	}
	f.settled(i)
}

func (f *run) counter(n *dag.Node) *int {
	if n.Hook.Kind == policy.KindLLM {
		return &f.models
	}
	return &f.processes
}

func (f *run) room(n *dag.Node) bool {
	limit, unset := f.w.plan.MaxConcurrent, defaultProcesses
	if n.Hook.Kind == policy.KindLLM {
		limit, unset = f.w.plan.MaxModels, defaultModels
	}
	if limit <= 0 {
		limit = unset
	}
	return *f.counter(n) < limit
}

// take notes a report. Room is free when the body is gone, not before.
func (f *run) take(r report) {
	if r.overdue {
		f.overdue = true
		return
	}
	n, c := f.node(r.node), &f.nodes[r.node]
	if r.gone {
		*f.counter(n)--
	}
	late := c.answered // and so a second report
	// What failed for want of time may still be running; only writers of the
	// world are waited for (semantics.md §5.4).
	done := !c.gone && (r.gone || n.Effects.World != policy.WorldWrite)
	c.gone = c.gone || done
	if !late {
		c.attempts, c.took = r.attempts, r.took
		f.contribute(r.node, r.out, r.err)
		return
	}
	if done {
		f.release(f.w.afterDone[r.node])
	}
}

// contribute notes a node's answer or its final failure.
func (f *run) contribute(i int, out *policy.Result, err error) {
	n, c := f.node(i), &f.nodes[i]
	if err != nil || out != nil {
		r, failed := contribution(f.w.plan, n, f.entry, out, err)
		c.result, err = &r, failed
	}
	if c.status, c.err = policy.StatusRan, err; err != nil {
		c.status = policy.StatusFailed
	}
	f.settled(i)
}

// settled releases who waited for node i and completes its item.
func (f *run) settled(i int) {
	n, c := f.node(i), &f.nodes[i]
	c.answered = true
	if !c.begun || n.Hook.Async || n.Hook.Kind.InProcess() {
		f.release(f.w.afterStart[i])
	}
	if c.gone {
		f.release(f.w.afterDone[i])
	}
	if p := &f.items[n.Item]; p.open > 1 {
		p.open--
		return
	}
	f.complete(n.Item)
}

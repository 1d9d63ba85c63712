package main

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
)

// hookBench is what is measured of one hook on one event.
type hookBench struct {
	event *benchEvent
	plan  *dag.Plan
	node  *dag.Node
	name  string
	fused bool
	// mu guards chain, which is told of each run by whoever settled it.
	mu    sync.Mutex
	chain *latencies
	// last is what became of the hook the last time.
	last policy.Status
	// inChain are the rounds in the chain; total is all the time it took there.
	inChain []benchRound
	total   time.Duration
	// alone are the rounds on its own, of batches of so many runs.
	alone []benchRound
	batch int
}

// hooksOf are the hooks of an event, in the order of its chain.
func hooksOf(e *benchEvent) []*hookBench {
	plan := e.engine.program.Plan(e.event)
	if plan == nil {
		return nil
	}
	fused := map[int]bool{}
	for _, f := range plan.Fused {
		for _, id := range f.Nodes {
			fused[id] = f.Run != nil
		}
	}
	var out []*hookBench
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		h := &hookBench{event: e, plan: plan, node: n, name: plan.Label(i), fused: fused[i], last: policy.StatusNotStarted}
		if n.Hook.Kind.InProcess() && !n.Hook.Async && (n.Matcher == nil || n.Matcher.Match(e.in)) {
			h.batch = batchOf(h)
		}
		out = append(out, h)
	}
	return out
}

// batchTime is how long a batch of a rule's runs takes about: a look at the
// clock is lost in it.
const batchTime = 4 * time.Microsecond

// batchOf is how many runs make a batch.
func batchOf(h *hookBench) int {
	runs, start := 0, time.Now()
	for time.Since(start) < 16*batchTime {
		h.once()
		runs++
	}
	return max(1, min(4096, runs/16))
}

// once evaluates a rule on its own, on the event as it was sent. What it says,
// or that it fails, is no matter here: the chain's Decision is checked.
func (h *hookBench) once() {
	in := h.event.in
	if h.node.Effects.Project {
		in = in.Project(h.node.Effects.Sees)
	}
	defer func() { _ = recover() }() // a panic is the hook's failure, as in a chain
	if body, ok := h.node.Runner.(policy.Teller); ok {
		_, _ = body.Tell(context.Background(), in, 0)
		return
	}
	_, _ = h.node.Runner.Run(context.Background(), in, 0)
}

// measureHooks measures the hooks of each event: together in the chain, then
// each rule on its own, each half the time that a way has.
func (b *bencher) measureHooks(each limits) error {
	for _, e := range b.events {
		if e.hooks == nil {
			e.hooks = hooksOf(e)
		}
		if len(e.hooks) == 0 {
			continue
		}
		b.progress.say(e.title() + " hook by hook")
		part := limits{runs: each.runs, time: each.time / 2}
		if err := b.inChain(e, part); err != nil {
			return err
		}
		rules := 0
		for _, h := range e.hooks {
			rules += min(h.batch, 1)
		}
		for _, h := range e.hooks {
			if h.batch == 0 {
				continue
			}
			h.byItself(b.ctx, limits{runs: each.runs, time: part.time / time.Duration(rules)})
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
		}
	}
	return nil
}

// inChain fires the event with each hook timed by the executor.
func (b *bencher) inChain(e *benchEvent, each limits) error {
	eng, err := e.engine.watch()
	if err != nil {
		return err
	}
	plan := eng.Program().Plan(e.event)
	byNode := make(map[*dag.Node]*hookBench, len(plan.Nodes))
	for i := range plan.Nodes {
		byNode[&plan.Nodes[i]] = e.hooks[i]
	}
	e.engine.tell(func(r executor.Run) {
		if h := byNode[r.Node]; h != nil { // not of an event before, whose hook ended late
			h.ran(r)
		}
	})
	var d *policy.Decision
	s := sampler{shot: benchShot{
		run: func(ctx context.Context) (err error) {
			d, err = eng.Fire(ctx, e.event, e.in)
			return err
		},
		check: func(all bool) error { return e.check(d, "the chain, hook by hook,", all) },
	}}
	s.sample(b.ctx, each)
	for _, h := range e.hooks {
		h.endRound()
	}
	return s.err
}

// ran notes what the executor says of the hook.
func (h *hookBench) ran(r executor.Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = r.Status
	if r.Status != policy.StatusRan && r.Status != policy.StatusFailed {
		return
	}
	if h.chain == nil {
		h.chain = new(latencies)
	}
	h.chain.note(r.Took)
}

// endRound makes a round of what was noted.
func (h *hookBench) endRound() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.chain != nil {
		h.inChain = append(h.inChain, h.chain.summary())
		h.total += h.chain.total
		h.chain = nil
	}
}

// byItself evaluates a rule in batches; a round counts runs, and its times are
// those of one run in a batch.
func (h *hookBench) byItself(ctx context.Context, each limits) {
	var before, after runtime.MemStats
	s := sampler{shot: benchShot{
		run: func(context.Context) error {
			for range h.batch {
				h.once()
			}
			return nil
		},
		check: func(bool) error { return nil },
	}}
	runtime.ReadMemStats(&before)
	s.sample(ctx, each)
	runtime.ReadMemStats(&after)
	r := s.took.summary()
	if r.runs == 0 {
		return
	}
	size := float64(h.batch)
	r.runs *= int64(h.batch)
	r.p50, r.p99, r.max, r.mean, r.perSecond = r.p50/size, r.p99/size, r.max/size, r.mean/size, r.perSecond*size
	r.bytes = int64(after.TotalAlloc-before.TotalAlloc) / r.runs
	r.allocs = int64(after.Mallocs-before.Mallocs) / r.runs
	h.alone = append(h.alone, r)
}

// check holds a Decision against the first; not all of it costs nothing.
func (e *benchEvent) check(d *policy.Decision, how string, all bool) error {
	if d.Action != e.want.Action || d.Verdict != e.want.Verdict || d.By != e.want.By || len(d.Reasons) != len(e.want.Reasons) {
		all = true
	}
	if !all {
		return nil
	}
	if text := e.differ(d); text != "" {
		return errDiffer(e, how, text)
	}
	return nil
}

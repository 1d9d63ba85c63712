package executor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/internal/group"
	"github.com/hookc/hookc/policy"
)

// drainTime is how long Close lets async hooks end on their own.
const drainTime = 2 * time.Second

// pool runs async hooks: detached from the firing that reached them, bounded
// in number, each with its own timeout.
type pool struct {
	options Options
	dropped atomic.Int64

	waits group.Growing
	mu    sync.Mutex
	// running holds what ends each hook that is running, nil until it has begun.
	running map[*asyncRun]context.CancelFunc
	// closed: no more are taken; cut: those still running must end.
	closed, cut bool
}

type asyncRun struct{ node *dag.Node }

func newPool(o Options) *pool {
	return &pool{options: o, running: map[*asyncRun]context.CancelFunc{}}
}

// take starts an async node, whatever becomes of ctx later, or says why not.
func (p *pool) take(ctx context.Context, n *dag.Node, in *policy.Context) *policy.Warning {
	if p.options.Async != nil {
		err := p.options.Async(ctx, n, in)
		if warning := durable.Warning(n.Hook, err); warning != nil || err == nil {
			return warning
		}
		return p.drop(n, "not handed over: "+err.Error())
	}
	run := &asyncRun{node: n}
	if !p.admit(run) {
		return p.drop(n, "too many async hooks are running")
	}
	go p.run(context.WithoutCancel(ctx), run, in)
	return durable.Warning(n.Hook, durable.NoQueue)
}

// admit counts one more run, unless there are too many.
func (p *pool) admit(r *asyncRun) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.running) >= p.options.MaxAsync {
		return false
	}
	p.running[r] = nil
	p.waits.Add()
	return true
}

func (p *pool) drop(n *dag.Node, why string) *policy.Warning {
	p.dropped.Add(1)
	return durable.Dropped(n.Hook, why)
}

// run makes the one attempt an async hook has.
func (p *pool) run(ctx context.Context, r *asyncRun, in *policy.Context) {
	defer p.waits.Done()
	defer p.forget(r)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.begin(r, cancel)
	// on_error decides nothing here: an async hook's failure is counted only.
	_ = p.attempt(ctx, r.node, &caller{n: r.node}, in)
}

// attempt makes the one attempt an async hook has and reports it.
func (p *pool) attempt(ctx context.Context, n *dag.Node, c *caller, in *policy.Context) error {
	begun := time.Now()
	_, err := c.call(ctx, in, 0, n.Timeout, timeoutError(n))
	status, took := policy.StatusRan, time.Since(begun)
	if err != nil {
		status = policy.StatusFailed
	}
	p.options.counting(n)(status, 1, took)
	if observe := p.options.Observe; observe != nil {
		observe(Run{Event: n.Hook.Event, Node: n, Status: status, Err: err, Attempts: 1, Took: took})
	}
	return err
}

func (p *pool) begin(r *asyncRun, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[r] = cancel
	if p.cut {
		cancel()
	}
}

func (p *pool) forget(r *asyncRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, r)
}

// drain takes no more hooks, waits up to d for those running, then ends them
// and waits until they have.
func (p *pool) drain(d time.Duration) {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	if p.waits.Within(d) {
		return
	}
	p.mu.Lock()
	p.cut = true
	for _, cancel := range p.running {
		if cancel != nil {
			cancel()
		}
	}
	p.mu.Unlock()
	p.waits.Wait()
}

package executor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/group"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// drainTime is how long Close lets async hooks end on their own.
const drainTime = 2 * time.Second

var codeAsync = diag.Define(diag.Code{
	ID: "HK172", Severity: diag.Warning,
	Title: "async hook was not started",
	Help: `An async hook is started and not waited for. It could not be: sixteen were running
already, or the process that should have taken it over could not be started. It is
dropped, counted and reported; no later event runs it. Make the hook faster, give it a
filter so that fewer events start it, or do not declare it async.`,
	Bad: `-- hooks.yaml --
notify:
  - {command: sleep 0.1, async: true}
-- env --
TMPDIR=/does/not/exist
-- event.json --
{"event": "notify", "message": "hi"}
`,
	Good: `-- hooks.yaml --
notify:
  - {command: sleep 0.1, async: true}
-- event.json --
{"event": "notify", "message": "hi"}
`,
})

var codeNotKept = diag.Define(diag.Code{
	ID: "HK173", Severity: diag.Warning,
	Title: "durable hook is not kept as its policy wants",
	Help: `durable: true has an async hook kept in a queue until it has run. Only hookcd serve has
that queue. Where it cannot be reached the hook is started once all the same, as any
async hook is: when it fails, or the machine does, it is not run again. Where hookcd
cannot reach the NATS of its fleet the hook waits on this machine until it can. Start
hookcd serve, or take out durable: true.`,
	Bad: `-- hooks.yaml --
notify:
  - {command: "true", async: true, durable: true}
-- event.json --
{"event": "notify", "message": "hi"}
`,
	Good: `-- hooks.yaml --
notify:
  - {command: "true", async: true}
-- event.json --
{"event": "notify", "message": "hi"}
`,
})

// NotKeptError says that a durable hook was started, or will be, and what of its
// durability does not hold.
type NotKeptError struct{ Why string }

func (e *NotKeptError) Error() string { return e.Why }

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
		var loose *NotKeptError
		switch {
		case errors.As(err, &loose):
			return notKept(n, loose.Why)
		case err != nil:
			return p.drop(n, "not handed over: "+err.Error())
		}
		return nil
	}
	run := &asyncRun{node: n}
	if !p.admit(run) {
		return p.drop(n, "too many async hooks are running")
	}
	go p.run(context.WithoutCancel(ctx), run, in)
	if n.Hook.Durable {
		return notKept(n, "it is started once: this process has no queue")
	}
	return nil
}

func notKept(n *dag.Node, why string) *policy.Warning {
	return &policy.Warning{Code: codeNotKept, Hook: n.Hook.Name, Text: n.Hook.Name + " is durable, and " + why}
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
	return &policy.Warning{Code: codeAsync, Hook: n.Hook.Name, Text: n.Hook.Name + ": dropped: " + why}
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

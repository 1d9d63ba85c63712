// Package hookc compiles the hooks of AI agents into one execution DAG per
// lifecycle event and runs it in process. It is the face for embedders:
//
//	eng, err := hookc.Open(ctx, hookc.Files("hooks.yaml"), hookc.Dir(project))
//	d, err := eng.PreTool(ctx, hookc.Call{Tool: "Bash", Input: input})
//	if !d.Permits() { … d.Reasons … }
//
// What a policy means is written in docs/semantics.md; the DAG gives exactly
// the decisions of running the hooks one after another in policy order.
package hookc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// The lifecycle points, for Fire.
const (
	SessionStart             = policy.SessionStart
	SessionEnd               = policy.SessionEnd
	PreSendMessage           = policy.PreSendMessage
	PostSendMessage          = policy.PostSendMessage
	PreLLMRequest            = policy.PreLLMRequest
	ToolSelection            = policy.ToolSelection
	PostLLMResponse          = policy.PostLLMResponse
	PreToolExecution         = policy.PreToolExecution
	PermissionRequest        = policy.PermissionRequest
	PostToolExecution        = policy.PostToolExecution
	PostToolExecutionFailure = policy.PostToolExecutionFailure
	StopEvent                = policy.StopEvent
	PostStop                 = policy.PostStop
	TurnEnd                  = policy.TurnEnd
	StopFailure              = policy.StopFailure
	SubagentStart            = policy.SubagentStart
	SubagentStop             = policy.SubagentStop
	Notify                   = policy.Notify
	PreMicroCompact          = policy.PreMicroCompact
	PostMicroCompact         = policy.PostMicroCompact
	PreAutoCompact           = policy.PreAutoCompact
	PostAutoCompact          = policy.PostAutoCompact
)

// ErrClosed is returned by an engine that has been closed.
var ErrClosed = errors.New("hookc: the engine is closed")

// Engine holds one compiled policy and decides events with it. All methods
// are safe for concurrent use.
type Engine struct {
	config  config
	live    atomic.Pointer[live]
	metrics *Metrics

	// mu serialises what changes the policy: Reload, Register, Remove, Close.
	mu       sync.Mutex
	closed   atomic.Bool
	sessions sync.Map // id → *Session
	anyone   atomic.Bool
	retired  sync.WaitGroup
}

// live is a policy in force and what runs it.
type live struct {
	policy  *policy.Policy
	program *dag.Program
	exec    *executor.Executor
}

// Open loads and compiles the policies its options name. The error, if any,
// is a diag.ListError that renders every finding, or one of I/O.
func Open(ctx context.Context, options ...Option) (*Engine, error) {
	e := &Engine{metrics: &Metrics{}}
	for _, o := range options {
		o(&e.config)
	}
	if e.config.misuse != nil {
		return nil, e.config.misuse
	}
	if err := e.Reload(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// Reload reads the sources again and swaps the new plan in atomically. Events
// in flight finish on the plan they began with. On an error the old plan
// stays in force.
func (e *Engine) Reload(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	next, err := e.build()
	if err != nil {
		return err
	}
	sessions := map[*Session]map[policy.Event]*live{}
	e.sessions.Range(func(_, v any) bool {
		s := v.(*Session)
		var plans map[policy.Event]*live
		if plans, err = s.rebuild(next.policy, nil); err == nil {
			sessions[s] = plans
		}
		return err == nil
	})
	if err != nil {
		next.exec.Close()
		return fmt.Errorf("hookc: hooks registered at run time do not fit the new policy: %w", err)
	}
	e.retire(e.live.Swap(next))
	for s, plans := range sessions {
		s.swap(plans)
	}
	return nil
}

// retire closes what runs an old plan once its events have finished.
func (e *Engine) retire(old *live) {
	if old == nil {
		return
	}
	e.retired.Go(old.exec.Close)
}

// Fire decides one event: every hook of the event's plan that concerns it is
// evaluated as if one after another. The Decision is never nil and says what
// the host does now; when the error is not nil (the engine is closed, the
// event is unknown) it does not permit the action. A cancelled ctx gives the
// action cancelled and no error.
func (e *Engine) Fire(ctx context.Context, event policy.Event, in *policy.Context) (*policy.Decision, error) {
	if e.closed.Load() {
		return refuse(event, ErrClosed)
	}
	known, ok := policy.ParseEvent(string(event))
	if !ok {
		return refuse(event, fmt.Errorf("hookc: unknown event %q", event))
	}
	in = in.Frozen(known)
	return e.plan(known, in.Text(policy.FieldSessionID)).exec.Fire(ctx, known, in), nil
}

// FireSerial is Fire through the serial interpreter, which defines what a
// policy means. It gives the same Decision, later.
func (e *Engine) FireSerial(ctx context.Context, event policy.Event, in *policy.Context) (*policy.Decision, error) {
	if e.closed.Load() {
		return refuse(event, ErrClosed)
	}
	known, ok := policy.ParseEvent(string(event))
	if !ok {
		return refuse(event, fmt.Errorf("hookc: unknown event %q", event))
	}
	in = in.Frozen(known)
	return e.plan(known, in.Text(policy.FieldSessionID)).exec.FireSerial(ctx, known, in), nil
}

// Without is the decision that the in-process rules alone would give if the
// hook that decided d were not there: what explain shows as counterfactual.
// It runs no process and calls no model.
func (e *Engine) Without(ctx context.Context, event policy.Event, in *policy.Context, d *policy.Decision) (*policy.Decision, error) {
	decider, _, _ := strings.Cut(d.By, "#")
	base := e.live.Load().policy
	rest := *base
	rest.Hooks = nil
	for _, h := range base.Hooks {
		if h.Event == event && h.Name != decider && h.Kind.InProcess() {
			rest.Hooks = append(rest.Hooks, h)
		}
	}
	l, err := e.config.compiled(&rest, nil, &Metrics{})
	if err != nil {
		return nil, err
	}
	defer l.exec.Close()
	return l.exec.Fire(ctx, event, in), nil
}

// RunAsync runs one async hook to its end, for a supervisor process that a
// one-shot engine handed it to. in is what the hook may read.
func (e *Engine) RunAsync(ctx context.Context, event policy.Event, hook string, in *policy.Context) error {
	return e.live.Load().exec.RunAsync(ctx, event, hook, in.Frozen(event))
}

// refuse is the answer of an engine that cannot decide.
func refuse(event policy.Event, err error) (*policy.Decision, error) {
	return &policy.Decision{Event: event, Action: policy.Block, Verdict: policy.Deny, Reasons: []string{err.Error()}}, err
}

// plan is what decides an event of a session.
func (e *Engine) plan(event policy.Event, session string) *live {
	if e.anyone.Load() && session != "" {
		if s, ok := e.sessions.Load(session); ok {
			if own := s.(*Session).plan(event); own != nil {
				return own
			}
		}
	}
	return e.live.Load()
}

// Actions are what the host does between the events of a sub-pipeline, by the
// name of the action.
type Actions = executor.Actions

// Outcome is what a sub-pipeline came to.
type Outcome = executor.Outcome

// Run drives a sub-pipeline (compact, tool, tool.batch, agent): it fires the
// events, calls the host's actions between them and leaves early where a hook
// says so (semantics.md §1.2).
func (e *Engine) Run(ctx context.Context, pipeline string, actions Actions, in *policy.Context) (*Outcome, error) {
	if e.closed.Load() {
		return nil, ErrClosed
	}
	return e.live.Load().exec.Pipeline(ctx, pipeline, actions, in)
}

// Available reports whether some hook on the event can match the tool. False
// lets a host skip building a Context. It errs only towards true.
func (e *Engine) Available(event policy.Event, tool string) bool {
	known, ok := policy.ParseEvent(string(event))
	if !ok {
		return true
	}
	if e.anyone.Load() {
		on := false
		e.sessions.Range(func(_, v any) bool {
			own := v.(*Session).plan(known)
			on = own != nil && own.program.Plan(known) != nil
			return !on
		})
		if on {
			return true
		}
	}
	plan := e.live.Load().program.Plan(known)
	return plan != nil && plan.Index.Any(tool)
}

// Program is the plan in force: immutable, for explain and diagnostics.
func (e *Engine) Program() *dag.Program { return e.live.Load().program }

// Diagnostics are the findings of the plan in force that did not stop it.
func (e *Engine) Diagnostics() diag.List { return e.Program().Diagnostics }

// Metrics are the counters of every hook since Open.
func (e *Engine) Metrics() *Metrics { return e.metrics }

// Close waits up to two seconds for async hooks and releases the engine.
// Later calls return ErrClosed.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Swap(true) {
		return ErrClosed
	}
	e.sessions.Range(func(_, v any) bool {
		v.(*Session).swap(nil)
		return true
	})
	e.retire(e.live.Load())
	e.retired.Wait()
	return nil
}

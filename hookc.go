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
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/observe"
	"github.com/hookc/hookc/rego"
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
	// retired are the goroutines that end old plans, and what is made of a plan
	// in the background of an event; that event keeps its plan from being ended.
	retired sync.WaitGroup
	// delivered are the facts that commands printed.
	delivered printed
}

// live is a policy in force and what runs it.
type live struct {
	policy  *policy.Policy
	program *dag.Program
	exec    *executor.Executor
	// users counts the events under way; retiring takes it far below zero, so
	// that none can begin any more, and closes idle when the last has ended.
	users atomic.Int64
	idle  chan struct{}
	once  sync.Once
	// facts are those that the hooks of each event read.
	facts map[policy.Event][]policy.Fact
}

// retiring is what retiring adds to the users of a plan.
const retiring = math.MinInt64 / 2

// enter begins an event on the plan; false when the plan is retired and its
// successor is in force.
func (l *live) enter() bool {
	if l.users.Add(1) > 0 {
		return true
	}
	l.leave()
	return false
}

// leave ends an event.
func (l *live) leave() {
	if l.users.Add(-1) == retiring {
		l.once.Do(func() { close(l.idle) })
	}
}

// close lets no more events begin, waits for those under way and releases
// what runs them.
func (l *live) close() {
	if l.users.Add(retiring) == retiring {
		l.once.Do(func() { close(l.idle) })
	}
	<-l.idle
	l.exec.Close()
}

// Open loads and compiles the policies its options name. The error, if any,
// is a diag.ListError that renders every finding, or one of I/O.
func Open(ctx context.Context, options ...Option) (*Engine, error) {
	e := &Engine{config: config{decides: true, self: &guard.Self{}}, metrics: &Metrics{}}
	for _, o := range options {
		o(&e.config)
	}
	if err := e.config.check(); err != nil {
		return nil, err
	}
	if err := e.config.sourced(); err != nil {
		return nil, err
	}
	e.config.kinds.Instances = &runner.Instances{}
	if e.config.execute.Gates == nil {
		e.config.execute.Gates = executor.NewGates() // one count, whichever plan an event is on
	}
	if e.config.kinds.Eyes == nil && !e.config.skipVerify && !e.config.compile.Once {
		e.config.kinds.Eyes = rego.NewEyes(false, nil, nil)
	}
	e.config.cache = e.config.newCache()
	e.config.compile.Background = e.retired.Go
	e.config.execute.Fire = func(ctx context.Context, event policy.Event, in *policy.Context) *policy.Decision {
		d, _ := e.Fire(ctx, event, in) // the Decision of an error refuses
		return d
	}
	if err := e.Reload(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// retire closes what runs an old plan once its events have finished.
func (e *Engine) retire(old *live) {
	if old == nil {
		return
	}
	e.retired.Go(old.close)
}

// Fire decides one event: every hook of the event's plan that concerns it is
// evaluated as if one after another. The Decision is never nil and says what
// the host does now; when the error is not nil (the engine is closed, the
// event is unknown) it does not permit the action. A cancelled ctx gives the
// action cancelled and no error.
//
//go:noinline
func (e *Engine) Fire(ctx context.Context, event policy.Event, in *policy.Context) (*policy.Decision, error) {
	return e.fire(ctx, event, in, (*executor.Executor).Fire)
}

// UnfitError is why an event that was read cannot be decided: it has no Context
// or one that holds what JSON does not have, or it is guarded and lacks what
// filters need, or has what would mislead them.
type UnfitError struct{ Err error }

func (e *UnfitError) Error() string { return "hookc: " + e.Err.Error() }

// Unwrap is what is wrong with the event.
func (e *UnfitError) Unwrap() error { return e.Err }

// Reused is memory for the Decisions of FireInto. The zero Reused is ready; it
// serves one event at a time.
type Reused = executor.Reused

// FireInto is Fire for a host that decides many events and keeps none of the
// Decisions: the Decision is in m, is not to be changed, and holds until m is
// used again. Where nothing is to be said it allocates nothing, if every rule
// that the event concerns is in expr and in was made with policy.DecodeContext
// or Context.Set and has been Frozen for the event.
func (e *Engine) FireInto(ctx context.Context, event policy.Event, in *policy.Context, m *Reused) (*policy.Decision, error) {
	if e.config.log != nil || e.config.observer != nil { // its Decision outlasts the event
		return e.Fire(ctx, event, in)
	}
	known, err := usable(event, in)
	if err != nil {
		return refuse(event, in, err)
	}
	session := ""
	if e.anyone.Load() { // else no session has a policy of its own
		in = in.Frozen(known)
		session = in.Text(policy.FieldSessionID)
	}
	l, err := e.enter(known, session)
	if err != nil {
		return refuse(known, in, err)
	}
	defer l.leave()
	if known.NeedsTool() && l.program.Plan(known) != nil {
		in = in.Frozen(known)
		if err := toolcall.Unfit(in, known, l.program.Plan(known).Reads); err != nil {
			return refuse(known, in, &UnfitError{err})
		}
	}
	in, missing, err := e.informed(ctx, l, known, in)
	if err != nil {
		return refuse(known, in, err)
	}
	if missing != nil {
		return missing.decide(ctx, l, known, in), nil
	}
	return e.approve(ctx, l, l.exec.FireInto(ctx, known, in, m), in), nil
}

// FireSerial is Fire through the serial interpreter, which defines what a
// policy means. It gives the same Decision, later.
func (e *Engine) FireSerial(ctx context.Context, event policy.Event, in *policy.Context) (*policy.Decision, error) {
	return e.fire(ctx, event, in, (*executor.Executor).FireSerial)
}

type fireFunc func(*executor.Executor, context.Context, policy.Event, *policy.Context) *policy.Decision

func (e *Engine) fire(ctx context.Context, event policy.Event, in *policy.Context, how fireFunc) (*policy.Decision, error) {
	if known, err := usable(event, in); err == nil && e.config.log != nil { // once, for the decision and for its entry
		in = in.Frozen(known)
	}
	ctx, ended := observe.Begin(ctx, e.config.observer, event, in)
	d, err := e.unlogged(ctx, event, in, how)
	return ended(e.logged(ctx, event, in, d, err), err)
}

func (e *Engine) unlogged(ctx context.Context, event policy.Event, in *policy.Context, how fireFunc) (*policy.Decision, error) {
	known, err := usable(event, in)
	if err != nil {
		return refuse(event, in, err)
	}
	in = in.Frozen(known)
	l, err := e.enter(known, in.Text(policy.FieldSessionID))
	if err != nil {
		return refuse(known, in, err)
	}
	defer l.leave()
	if l.program.Plan(known) != nil {
		if err := toolcall.Unfit(in, known, l.program.Plan(known).Reads); err != nil {
			return refuse(known, in, &UnfitError{err})
		}
	}
	in, missing, err := e.informed(ctx, l, known, in)
	if err != nil {
		return refuse(known, in, err)
	}
	if missing != nil {
		return missing.decide(ctx, l, known, in), nil
	}
	return e.approve(ctx, l, how(l.exec, ctx, known, in), in), nil
}

// enter begins an event of a session on the plan in force; the caller leaves
// it.
func (e *Engine) enter(event policy.Event, session string) (*live, error) {
	for !e.closed.Load() {
		if l := e.plan(event, session); l.enter() {
			return l, nil
		}
	}
	return nil, ErrClosed
}

// Without is the decision that the in-process rules alone would give if the
// hook that decided d were not there: what explain shows as counterfactual.
// It runs no process and calls no model.
func (e *Engine) Without(ctx context.Context, event policy.Event, in *policy.Context, d *policy.Decision) (*policy.Decision, error) {
	known, err := usable(event, in)
	if err != nil {
		return refuse(event, in, err)
	}
	base := e.plan(known, in.Frozen(known).Text(policy.FieldSessionID)).policy
	rest := *base
	rest.Hooks = nil
	decider := hookOf(d.By, base.Hooks)
	for _, h := range base.Hooks {
		if h.Event == known && h.Name != decider && h.Kind.InProcess() {
			rest.Hooks = append(rest.Hooks, h)
		}
	}
	c := e.config
	c.cache, c.kinds.Instances = nil, nil
	c.execute = executor.Options{MaxGateBlocks: c.execute.MaxGateBlocks} // what did not happen leaves no trace
	l, err := c.compiled(&rest, nil, &Metrics{})
	if err != nil {
		return refuse(known, in, err)
	}
	defer l.exec.Close()
	in, missing, err := e.informed(ctx, l, known, in.Frozen(known))
	if err != nil {
		return refuse(known, in, err)
	}
	if missing != nil {
		return missing.decide(ctx, l, known, in), nil
	}
	return l.exec.Fire(ctx, known, in), nil
}

// hookOf is the name of the hook that Decision.By means: hook, or hook#rule. A
// name may itself hold a `#`.
func hookOf(by string, hooks []*policy.Hook) string {
	if slices.ContainsFunc(hooks, func(h *policy.Hook) bool { return h.Name == by }) {
		return by
	}
	if i := strings.LastIndexByte(by, '#'); i >= 0 {
		return by[:i]
	}
	return by
}

// RunAsync runs one async hook to its end, for a supervisor process that a
// one-shot engine handed it to. in is what the hook may read.
func (e *Engine) RunAsync(ctx context.Context, event policy.Event, hook string, in *policy.Context) error {
	if err := in.Err(); err != nil {
		return &UnfitError{err}
	}
	in = in.Frozen(event)
	l, err := e.enter(event, in.Text(policy.FieldSessionID))
	if err != nil {
		return err
	}
	defer l.leave()
	return l.exec.RunAsync(ctx, event, hook, in)
}

// refuse is the answer of an engine that cannot decide.
func refuse(event policy.Event, in *policy.Context, err error) (*policy.Decision, error) {
	return &policy.Decision{Event: event, Action: policy.Block, Verdict: policy.Deny, Reasons: []string{err.Error()}, Final: in.Frozen(event)}, err
}

// usable is the canonical event, and why it cannot be decided with in.
func usable(event policy.Event, in *policy.Context) (policy.Event, error) {
	known, ok := policy.ParseEvent(string(event))
	if !ok {
		return event, fault.Errorf("hookc: unknown event %q", event)
	}
	if err := in.Err(); err != nil {
		return event, &UnfitError{err}
	}
	return known, nil
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
// says so (semantics.md §1.2). It takes one context; tool.batch one for each
// call, and runs the calls side by side: their actions must be safe for
// concurrent use. The error says that the request itself is wrong, before anything ran;
// what went wrong on the way is in the Outcome.
func (e *Engine) Run(ctx context.Context, pipeline string, actions Actions, in ...*policy.Context) (*Outcome, error) {
	if e.closed.Load() {
		return nil, ErrClosed
	}
	for _, c := range in {
		if err := c.Err(); err != nil {
			return nil, &UnfitError{err}
		}
	}
	l := e.live.Load()
	if l.program.Plan(PreToolExecution) != nil && (pipeline == "tool" || pipeline == "tool.batch") {
		for _, c := range in {
			if err := c.Frozen(PreToolExecution).Unfit(PreToolExecution); err != nil {
				return nil, &UnfitError{err}
			}
		}
	}
	return l.exec.Pipeline(ctx, pipeline, actions, in...)
}

// Available reports whether some hook on the event can match the tool. False
// lets a host skip building a Context. It errs only towards true.
func (e *Engine) Available(event policy.Event, tool string) bool {
	known, ok := policy.ParseEvent(string(event))
	if !ok {
		return true
	}
	on := false
	if e.anyone.Load() {
		e.sessions.Range(func(_, v any) bool {
			own := v.(*Session).plan(known)
			on = own != nil && own.exec.Concerns(known, tool)
			return !on
		})
	}
	return on || e.live.Load().exec.Concerns(known, tool)
}

// Program is the plan in force: immutable, for explain and diagnostics.
func (e *Engine) Program() *dag.Program { return e.live.Load().program }

// Diagnostics are the findings of the plan in force that did not stop it.
func (e *Engine) Diagnostics() diag.List { return e.Program().Diagnostics }

// Rejected is the native code of Rego that said what OPA did not, and is not used
// any more: the hook's name by the code's hash. OPA evaluates these hooks.
func (e *Engine) Rejected() map[string]string {
	if e.config.kinds.Eyes == nil {
		return nil
	}
	return e.config.kinds.Eyes.Rejected()
}

// Metrics are the counters of every hook since Open.
func (e *Engine) Metrics() *Metrics { return e.metrics }

// Close waits for the events under way, then up to two seconds for async
// hooks, and releases the engine. Later calls return ErrClosed.
func (e *Engine) Close() error {
	if !e.shut() {
		return ErrClosed
	}
	e.retired.Wait() // without the lock, which an event under way may want
	if eyes := e.config.kinds.Eyes; eyes != nil {
		eyes.Close()
	}
	if e.config.log != nil {
		e.config.log.Close()
	}
	return nil
}

// shut lets nothing begin any more; false when that was so already.
func (e *Engine) shut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Swap(true) {
		return false
	}
	e.sessions.Range(func(_, v any) bool {
		v.(*Session).swap(nil)
		return true
	})
	e.retire(e.live.Load())
	return true
}

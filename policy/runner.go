package policy

import (
	"context"
	"errors"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy/diag"
)

// Runner is a hook's body made ready. It is safe for concurrent use. Run
// returns what the hook said, unmasked, or an error that on_error decides on;
// it must return soon after ctx ends. Attempt counts from 0.
type Runner interface {
	Run(ctx context.Context, in *Context, attempt int) (Result, error)
}

// Teller is a Runner that mostly says nothing and then makes no Result: Tell is
// Run, and nil says nothing.
type Teller interface {
	Runner
	Tell(ctx context.Context, in *Context, attempt int) (*Result, error)
}

// RunnerFunc is a function as a Runner.
type RunnerFunc func(ctx context.Context, in *Context, attempt int) (Result, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, in *Context, attempt int) (Result, error) {
	return f(ctx, in, attempt)
}

// Effects are what a hook may do, inferred or declared (semantics.md §3).
type Effects struct {
	// Reads and Writes are the fields its body may read and patch.
	Reads, Writes Paths
	// May is what it may say.
	May   Powers
	World World
	// Spec is true when it may be started before it is known to be needed.
	Spec bool
	// MayFail is false only for a body that cannot return an error.
	MayFail bool
	// Volatile results depend on time or chance: never memoised.
	Volatile bool
	// Project is true when the reads were declared, so that the body must be
	// given nothing but Sees; inferred reads are complete as they are.
	Project bool
	// Sees is what was declared, without the inputs of derived fields that
	// Reads holds beside them.
	Sees Paths
}

// ErrKind says how a hook failed.
type ErrKind string

// The kinds of failure.
const (
	ErrSpawn    ErrKind = "spawn"
	ErrExit     ErrKind = "exit"
	ErrSignal   ErrKind = "signal"
	ErrTimeout  ErrKind = "timeout"
	ErrDeadline ErrKind = "deadline"
	ErrBudget   ErrKind = "budget"
	ErrParse    ErrKind = "parse"
	ErrOversize ErrKind = "oversize"
	ErrNetwork  ErrKind = "network"
	ErrEval     ErrKind = "eval"
	ErrPanic    ErrKind = "panic"
)

// HookError is a hook's failure. It is not the author's mistake (a
// Diagnostic) nor ours (a panic): the world failed, and on_error decides.
type HookError struct {
	Kind ErrKind
	// Text says what happened, for people: `exit status 3: no such file`.
	Text string
	// At is where in the policy it happened, if known.
	At  diag.Span
	Err error
	// After is how long to wait before another attempt can help; 0 is not at
	// all.
	After time.Duration
}

func (e *HookError) Error() string { return e.Text }

func (e *HookError) Unwrap() error { return e.Err }

// Failf makes a HookError; a %w argument becomes the wrapped error.
func Failf(kind ErrKind, format string, args ...any) *HookError {
	err := fault.Errorf(format, args...)
	return &HookError{Kind: kind, Text: err.Error(), Err: errors.Unwrap(err)}
}

// KindOf is the kind of a hook's failure; an error of any other type is
// ErrEval.
func KindOf(err error) ErrKind {
	var h *HookError
	if errors.As(err, &h) {
		return h.Kind
	}
	return ErrEval
}

// Late reports whether a failure is one of time, which on_timeout decides.
func (k ErrKind) Late() bool { return k == ErrTimeout || k == ErrDeadline || k == ErrBudget }

// ModelRequest is one call of a language model.
type ModelRequest struct {
	// Model is the model's name; "" is the host's or configured default.
	Model string
	// Prompt is the whole text, instruction included.
	Prompt string
	// Temperature is 0 for every hook.
	Temperature float64
	// Attempt counts the hook's attempts from 0.
	Attempt int
}

// Model answers a request with the model's text. It must be safe for
// concurrent use and honour ctx. An error is a failure of the hook.
type Model func(ctx context.Context, req ModelRequest) (string, error)

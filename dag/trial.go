package dag

import (
	"context"
	"time"

	"github.com/hookc/hookc/policy"
)

// Trial is what a test sets for the decision of one event: the context of the
// firing carries it. Nothing outside tests makes one.
type Trial struct {
	// Now is the time of day that rules are told; the zero Time is the real one.
	Now time.Time
	// Say, if not nil, is asked for the answer of a hook that starts a process or
	// asks a model; false runs the hook.
	Say func(h *policy.Hook) (policy.Result, error, bool)
	// Received, if not nil, is told what such a hook answered when it was run.
	Received func(h *policy.Hook, r policy.Result, err error)
}

type trialKey struct{}

// WithTrial makes a firing one of a test.
//
//go:noinline
func WithTrial(ctx context.Context, t *Trial) context.Context {
	return context.WithValue(ctx, trialKey{}, t)
}

// TrialOf is the Trial of a firing, nil outside tests.
func TrialOf(ctx context.Context) *Trial {
	t, _ := ctx.Value(trialKey{}).(*Trial)
	return t
}

// Now is the time of day that rules of a firing are told; real is what the clock
// says.
func Now(ctx context.Context, real time.Time) time.Time {
	if t := TrialOf(ctx); t != nil && !t.Now.IsZero() {
		return t.Now
	}
	return real
}

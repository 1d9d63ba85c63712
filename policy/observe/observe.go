// Package observe is how a host sees what an engine does: each firing, and each run of
// a script or a model, from its begin to its end; and the place in a trace that these
// are at. Who observes nothing pays nothing.
package observe

import (
	"context"

	"github.com/hookc/hookc/policy"
)

// Observer is told of what begins, and what it returns of what has ended. Neither may
// wait for anything, nor change what it is given; both are called concurrently. The
// context is the one that what began goes on under.
type Observer interface {
	// Firing is told of an event before it is decided; in may be nil.
	Firing(ctx context.Context, event policy.Event, in *policy.Context) (context.Context, func(*policy.Decision, error))
	// Hook is told of each attempt of a hook that starts a process or asks a model.
	Hook(ctx context.Context, h *policy.Hook, attempt int) (context.Context, func(error))
}

// Begin tells an Observer, where there is one, of a firing. ended returns what it is
// given.
func Begin(ctx context.Context, o Observer, event policy.Event, in *policy.Context) (_ context.Context, ended func(*policy.Decision, error) (*policy.Decision, error)) {
	if o == nil {
		return ctx, unobserved
	}
	ctx, end := o.Firing(ctx, event, in)
	return context.WithValue(ctx, observerKey{}, o), func(d *policy.Decision, err error) (*policy.Decision, error) {
		end(d, err)
		return d, err
	}
}

func unobserved(d *policy.Decision, err error) (*policy.Decision, error) { return d, err }

type observerKey struct{}

// Hook tells the Observer of a firing, where there is one, of an attempt of a hook.
func Hook(ctx context.Context, h *policy.Hook, attempt int) (_ context.Context, ended func(error)) {
	if o, ok := ctx.Value(observerKey{}).(Observer); ok {
		return o.Hook(ctx, h, attempt)
	}
	return ctx, func(error) {}
}

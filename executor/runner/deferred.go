package runner

import (
	"context"
	"sync"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// deferring is a kind whose bodies, read from an artifact, are prepared when
// they first run: a process that decides one event compiles the rules that the
// event concerns and no others.
func deferring(k dag.Kind) dag.Kind {
	if k.Decode == nil {
		k.Decode = later(k.Prepare)
	}
	return k
}

// later is a Decode that prepares a body when it first runs.
func later(prepare func(*policy.Hook) (dag.Body, diag.List)) func(*policy.Hook, []byte) policy.Runner {
	return func(h *policy.Hook, _ []byte) policy.Runner { return &deferred{hook: h, prepare: prepare} }
}

// deferred is a body that is made ready once, when it first runs. Its hook has
// compiled before, so that what does not compile now is a bug of hookc: then
// each run fails, and on_error decides.
type deferred struct {
	hook    *policy.Hook
	prepare func(*policy.Hook) (dag.Body, diag.List)
	once    sync.Once
	made    policy.Teller
	body    policy.Runner
}

// Made is the body, compiled now if it was not.
func (d *deferred) Made() policy.Runner {
	d.once.Do(d.make)
	return d.body
}

func (d *deferred) make() {
	d.body = dag.Broken(nil) // for as long as nothing better is there, a panic included
	body, found := d.prepare(d.hook)
	switch {
	case found.HasErrors():
		d.body = dag.Broken(found)
	case body.Runner != nil:
		d.body = body.Runner
	}
	d.made, _ = d.body.(policy.Teller)
}

// Reads asks the body (dag.Reasoned).
func (d *deferred) Reads(at diag.Span) []policy.Path {
	if body, ok := d.Made().(dag.Reasoned); ok {
		return body.Reads(at)
	}
	return nil
}

// Run is Tell.
func (d *deferred) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	return d.Made().Run(ctx, in, attempt)
}

// Tell asks the body.
func (d *deferred) Tell(ctx context.Context, in *policy.Context, attempt int) (*policy.Result, error) {
	d.once.Do(d.make)
	if d.made != nil {
		return d.made.Tell(ctx, in, attempt)
	}
	r, err := d.body.Run(ctx, in, attempt)
	if err != nil {
		return nil, err
	}
	return &r, nil
}

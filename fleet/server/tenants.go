package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
)

// Tenant is a policy that decides the events of the clients of one label.
type Tenant struct {
	label string
	eng   *hookc.Engine
}

// Tenants are the policies by label.
type Tenants struct {
	byLabel atomic.Pointer[map[string]*Tenant]
	// stale is how many policies stayed as they were at the last Reload.
	stale atomic.Int64
}

// anyLabel is the label of the policy for clients that have no policy of their own.
const anyLabel = ""

// diskGuards look at the disk for the paths that an event names.
var diskGuards = []string{"path-guard", "shell-guard", "self-guard"}

// Open compiles the policies, each LABEL=PATH, or PATH for the clients without one of
// their own. A client's event names folders and files of another machine: hooks that
// would start programs with them, ask a model, or look for them on this disk are
// refused, the last unless disk says that this disk is the clients' too.
func Open(ctx context.Context, policies []string, disk bool, more ...hookc.Option) (*Tenants, error) {
	all := map[string]*Tenant{}
	t := &Tenants{}
	t.byLabel.Store(&all)
	for _, given := range policies {
		label, path, found := strings.Cut(given, "=")
		if !found {
			label, path = anyLabel, given
		}
		if all[label] != nil {
			t.Close()
			return nil, fmt.Errorf("--policy %s: the label has a policy already", given)
		}
		option := hookc.Files(path)
		if strings.HasSuffix(path, ".hookc") {
			option = hookc.Artifact(path)
		}
		eng, err := hookc.Open(ctx, append(slices.Clip(more), option, hookc.Environ([]string{}), host.Fit[hookc.Option](func(p *dag.Program) error { return fit(p, disk) }))...)
		if err != nil {
			t.Close()
			return nil, fmt.Errorf("--policy %s: %w", given, err)
		}
		all[label] = &Tenant{label, eng}
	}
	return t, nil
}

// fit is why a policy cannot decide events of other machines.
func fit(p *dag.Program, disk bool) error {
	for _, f := range p.Facts {
		if f.Command != nil {
			return fmt.Errorf("the fact %s is what a command prints: on a policy server it would run here, with what a client sent", f.Name)
		}
	}
	for _, e := range p.Hooks {
		switch {
		case e.Status != dag.Live:
		case !e.Hook.Kind.InProcess():
			return fmt.Errorf("the hook %s is of the kind %s: on a policy server it would run here, with what a client sent", e.Hook.Name, e.Hook.Kind)
		case !disk && slices.Contains(diskGuards, e.Hook.Body.Use.Value):
			return fmt.Errorf("the hook %s (%s) looks on the disk for the paths of an event, and this disk is not the client's: say --same-disk where it is, or where that does not matter", e.Hook.Name, e.Hook.Body.Use.Value)
		}
	}
	return nil
}

// Of is the policy for a label.
func (t *Tenants) Of(label string) (*Tenant, error) {
	all := *t.byLabel.Load()
	if one := all[label]; one != nil {
		return one, nil
	}
	if one := all[anyLabel]; one != nil {
		return one, nil
	}
	return nil, fmt.Errorf("the label %q has no policy", label)
}

// Active reports whether there is a policy.
func (t *Tenants) Active() bool { return len(*t.byLabel.Load()) > 0 }

// Reload compiles every policy again. One that does not compile, or is no longer fit,
// leaves the one before in force, and is in the error; the others change all the same.
func (t *Tenants) Reload(ctx context.Context) error {
	all := *t.byLabel.Load()
	var wrong []error
	for _, label := range slices.Sorted(maps.Keys(all)) {
		if err := all[label].eng.Reload(ctx); err != nil {
			wrong = append(wrong, fmt.Errorf("the policy of %q stays as it was: %w", label, err))
		}
	}
	t.stale.Store(int64(len(wrong)))
	return errors.Join(wrong...)
}

// Close lets the events under way finish.
func (t *Tenants) Close() {
	for _, one := range *t.byLabel.Load() {
		one.eng.Close()
	}
}

// fire decides a canonical event. The folder that a client names as its project, or
// else the one it is in, is never looked for on this disk.
func (t *Tenant) fire(ctx context.Context, event policy.Event, data []byte, reused *hookc.Reused) (*policy.Decision, error) {
	if policy.Peek(data, policy.FieldProjectRoot) != "" || policy.Peek(data, policy.FieldCwd) == "" {
		return t.eng.FireJSONInto(ctx, event, data, reused)
	}
	in, sent, err := policy.DecodeContext(data)
	if err != nil {
		return nil, &hookc.DecodeError{Err: err}
	}
	if own, known := policy.ParseEvent(sent); known && own != event {
		return nil, &hookc.DecodeError{Err: fmt.Errorf("the path says %s and the event says %s", event, own)}
	}
	return t.context(ctx, event, in)
}

// context decides an event that is read.
func (t *Tenant) context(ctx context.Context, event policy.Event, in *policy.Context) (*policy.Decision, error) {
	if in.Text(policy.FieldProjectRoot) == "" {
		in.Set(policy.FieldProjectRoot, in.Text(policy.FieldCwd))
	}
	return t.eng.Fire(ctx, event, in)
}

// ahead decides what a call begins, where the agent lets nobody refuse that when it
// comes.
func (t *Tenant) ahead(ctx context.Context, d *policy.Decision, next *policy.Context) (*policy.Decision, error) {
	begun, err := t.context(ctx, policy.SubagentStart, next)
	if err != nil || begun.Action == policy.Proceed {
		return d, err
	}
	if begun.Action == policy.Abort {
		begun.Action = policy.Block
	}
	begun.Event = d.Event
	return begun, nil
}

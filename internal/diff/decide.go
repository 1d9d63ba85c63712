package diff

import (
	"bytes"
	"context"
	"maps"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// decider decides events with the rules of a program alone.
type decider struct{ exec *executor.Executor }

// silent means a hook that is not run: it says what an event supposes.
type silent struct{ node *dag.Node }

type supposedKey struct{}

func (s silent) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	answers, _ := ctx.Value(supposedKey{}).(map[string]any)
	return supposed(ctx, answers, s.node, in, attempt)
}

// newDecider gives the hooks of a program that are no in-process rules a body
// that says nothing. The program is not changed.
func newDecider(p *dag.Program) *decider {
	quiet := *p
	quiet.Plans = lists.Copy(p.Plans)
	for i, plan := range quiet.Plans {
		nodes := lists.Copy(plan.Nodes)
		for j := range nodes {
			if !nodes[j].Hook.Kind.InProcess() {
				nodes[j].Runner = silent{&plan.Nodes[j]}
			}
		}
		quiet.Plans[i] = plan.WithBodies(nodes)
	}
	quiet.Seal()
	return &decider{executor.New(&quiet, executor.Options{Gates: executor.FirstBlock{},
		Async: func(context.Context, *dag.Node, *policy.Context) error { return nil }})}
}

func (d *decider) close() { d.exec.Close() }

// decide is what the policy decides, nil when ctx ended first.
//
//go:noinline
func (d *decider) decide(ctx context.Context, event policy.Event, in made) *policy.Decision {
	return d.asked(ctx, event, in, (*executor.Executor).Fire)
}

// serially is decide by the serial definition.
func (d *decider) serially(ctx context.Context, event policy.Event, in made) *policy.Decision {
	return d.asked(ctx, event, in, (*executor.Executor).FireSerial)
}

type howFired func(*executor.Executor, context.Context, policy.Event, *policy.Context) *policy.Decision

func (d *decider) asked(ctx context.Context, event policy.Event, in made, how howFired) *policy.Decision {
	if len(in.answers) > 0 {
		ctx = context.WithValue(ctx, supposedKey{}, in.answers)
	}
	out := how(d.exec, ctx, event, in.context)
	if ctx.Err() != nil {
		return nil
	}
	return out
}

// unreceived are the parts of a Decision that say where something is written, how
// long it took or what else happened, and not what the agent is told: a hook
// that was renamed or moved decides as before.
var unreceived = []string{"at", "by", "degraded", "failed", "hooks", "policy", "warnings"}

// received is what the agent is told, as JSON.
func received(d *policy.Decision) []byte {
	short := *d
	short.Hooks, short.Warnings, short.Failed = nil, nil, nil
	text, err := short.MarshalJSON()
	if err != nil {
		panic("diff: a Decision has no JSON: " + err.Error())
	}
	v, err := policy.DecodeJSON(text)
	if err != nil {
		panic("diff: the JSON of a Decision is none: " + err.Error())
	}
	object := v.(map[string]any)
	maps.DeleteFunc(object, func(key string, _ any) bool { return lists.Has(unreceived, key) })
	if text, err = policy.EncodeJSON(object); err != nil {
		panic("diff: a Decision has no JSON: " + err.Error())
	}
	return text
}

// Differ reports whether two Decisions tell the agent different things. Who
// decided and where it is written are no difference.
func Differ(a, b *policy.Decision) bool {
	if a.Action != b.Action || a.Verdict != b.Verdict || a.Control != b.Control || !lists.Equal(a.Reasons, b.Reasons) {
		return true
	}
	if a.Patch == nil && b.Patch == nil && len(a.Inject)+len(b.Inject) == 0 {
		return a.StopReason != b.StopReason || a.Scope != b.Scope || a.SuppressOutput != b.SuppressOutput || !lists.Equal(a.Feedback, b.Feedback) ||
			!lists.Equal(a.Context, b.Context) || !lists.Equal(a.SystemMessages, b.SystemMessages)
	}
	return !bytes.Equal(received(a), received(b))
}

package diff

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
)

// decider decides events with the rules of a program alone.
type decider struct{ exec *executor.Executor }

// silent stands for a hook that is not run.
type silent struct{}

func (silent) Run(context.Context, *policy.Context, int) (policy.Result, error) {
	return policy.Result{}, nil
}

// firstBlock makes every block of a gate the first: an event that is tried is
// not an agent that is sent back again and again.
type firstBlock struct{}

func (firstBlock) Blocked(string, policy.Event) int { return 1 }
func (firstBlock) Passed(string, policy.Event)      {}
func (firstBlock) NewTurn(string)                   {}

// newDecider gives the hooks of a program that are no in-process rules a body
// that says nothing. The program is not changed.
func newDecider(p *dag.Program) *decider {
	quiet := *p
	quiet.Plans = slices.Clone(p.Plans)
	for i, plan := range quiet.Plans {
		nodes := slices.Clone(plan.Nodes)
		for j := range nodes {
			if !nodes[j].Hook.Kind.InProcess() {
				nodes[j].Runner = silent{}
			}
		}
		quiet.Plans[i] = plan.WithBodies(nodes)
	}
	quiet.Seal()
	return &decider{executor.New(&quiet, executor.Options{Gates: firstBlock{},
		Async: func(context.Context, *dag.Node, *policy.Context) error { return nil }})}
}

func (d *decider) close() { d.exec.Close() }

// decide is what the policy decides, nil when ctx ended first.
func (d *decider) decide(ctx context.Context, event policy.Event, in *policy.Context) *policy.Decision {
	out := d.exec.Fire(ctx, event, in)
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
	maps.DeleteFunc(object, func(key string, _ any) bool { return slices.Contains(unreceived, key) })
	if text, err = policy.EncodeJSON(object); err != nil {
		panic("diff: a Decision has no JSON: " + err.Error())
	}
	return text
}

// Differ reports whether two Decisions tell the agent different things. Who
// decided and where it is written are no difference.
func Differ(a, b *policy.Decision) bool {
	if a.Action != b.Action || a.Verdict != b.Verdict || a.Control != b.Control || !slices.Equal(a.Reasons, b.Reasons) {
		return true
	}
	if a.Patch == nil && b.Patch == nil && len(a.Inject)+len(b.Inject) == 0 {
		return a.StopReason != b.StopReason || a.Scope != b.Scope || a.SuppressOutput != b.SuppressOutput || !slices.Equal(a.Feedback, b.Feedback) ||
			!slices.Equal(a.Context, b.Context) || !slices.Equal(a.SystemMessages, b.SystemMessages)
	}
	return !bytes.Equal(received(a), received(b))
}

package compiler

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// A bench makes policies whose bodies do nothing and have the effects the
// test gives them; kinds have the defaults of semantics.md §3.1.
type bench struct {
	policy policy.Policy
	bodies map[string]dag.Body
	places map[string]int
}

func newBench() *bench { return &bench{bodies: map[string]dag.Body{}, places: map[string]int{}} }

type with func(b *bench, h *policy.Hook)

// add declares a hook at the end of its tier's list of the event.
func (b *bench) add(name string, kind policy.Kind, changes ...with) *policy.Hook {
	h := &policy.Hook{Name: name, Kind: kind, Event: policy.PreToolExecution, Tier: policy.TierProject,
		Priority: policy.DefaultPriority, Retry: -1}
	for _, change := range changes {
		change(b, h)
	}
	key := string(h.Event) + h.Tier.String()
	h.Order = b.places[key]
	b.places[key]++
	b.policy.Hooks = append(b.policy.Hooks, h)
	return h
}

func tier(t policy.Tier) with       { return func(_ *bench, h *policy.Hook) { h.Tier = t } }
func event(e policy.Event) with     { return func(_ *bench, h *policy.Hook) { h.Event = e } }
func priority(p int) with           { return func(_ *bench, h *policy.Hook) { h.Priority = p } }
func group(g *policy.Group) with    { return func(_ *bench, h *policy.Hook) { h.Group = g } }
func onError(p policy.Posture) with { return func(_ *bench, h *policy.Hook) { h.OnError = p } }

func flag(set func(*policy.Hook)) with { return func(_ *bench, h *policy.Hook) { set(h) } }

var (
	locked    = flag(func(h *policy.Hook) { h.Locked = true })
	disabled  = flag(func(h *policy.Hook) { h.Disabled = true })
	async     = flag(func(h *policy.Hook) { h.Async = true })
	rechecked = flag(func(h *policy.Hook) { h.Recheck = true })
	pure      = flag(func(h *policy.Hook) { h.Declared.Pure = true })
)

func filter(key policy.FilterKey, value string) with {
	return func(_ *bench, h *policy.Hook) {
		h.Filter.Conditions = append(h.Filter.Conditions, policy.Condition{Key: key, Value: diag.Literal(value)})
	}
}

func words(list []string) []diag.Text {
	out := []diag.Text{}
	for _, s := range list {
		out = append(out, diag.Literal(s))
	}
	return out
}

func paths(list ...string) policy.Paths { return declaredPaths(words(list)) }

func reads(list ...string) with {
	return func(_ *bench, h *policy.Hook) { h.Declared.Reads = words(list) }
}

func writes(list ...string) with {
	return func(_ *bench, h *policy.Hook) { h.Declared.Writes = words(list) }
}

func may(list ...string) with {
	return func(_ *bench, h *policy.Hook) { h.Declared.May = words(list) }
}

func world(w policy.World) with {
	return func(_ *bench, h *policy.Hook) { h.Declared.World = w }
}

// body sets what the kind says about the body.
func body(change func(*dag.Body)) with {
	return func(b *bench, h *policy.Hook) {
		body := b.bodies[h.Name]
		change(&body)
		b.bodies[h.Name] = body
	}
}

func sees(list ...string) with {
	return body(func(b *dag.Body) { b.Effects.Reads = paths(list...) })
}

func sets(list ...string) with {
	return body(func(b *dag.Body) { b.Effects.Writes = paths(list...) })
}

func says(p policy.Powers) with { return body(func(b *dag.Body) { b.Effects.May = p }) }

// always is a rule that says p whatever it reads.
func always(p policy.Powers) with {
	return body(func(b *dag.Body) { b.Always, b.Effects.May = p, p })
}

var quiet = policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) { return policy.Result{}, nil })

// kinds are the five kinds over the bench's bodies.
func (b *bench) kinds() []dag.Kind {
	process := func(h *policy.Hook, w policy.World) (dag.Body, diag.List) {
		spec := h.Event.Spec()
		return dag.Body{Runner: quiet, Effects: policy.Effects{Reads: spec.Readable(), Writes: spec.Writable(), May: policy.AllPowers, World: w, MayFail: true}}, nil
	}
	rule := func(h *policy.Hook) (dag.Body, diag.List) {
		body := b.bodies[h.Name]
		body.Runner = quiet
		body.Effects.Spec, body.Effects.MayFail = true, body.Effects.MayFail || body.Always == 0
		if body.Effects.World == policy.WorldUnset {
			body.Effects.World = policy.WorldNone
		}
		return body, nil
	}
	return []dag.Kind{
		{Name: policy.KindBash, Timeout: 10 * time.Second, Cost: 3 * time.Millisecond, OnGuard: policy.OnErrorSkip, OnOther: policy.OnErrorSkip,
			Prepare: func(h *policy.Hook) (dag.Body, diag.List) { return process(h, policy.WorldWrite) }},
		{Name: policy.KindLLM, Timeout: 30 * time.Second, Retry: 1, Cost: time.Second, OnGuard: policy.OnErrorSkip, OnOther: policy.OnErrorSkip,
			Prepare: func(h *policy.Hook) (dag.Body, diag.List) { return process(h, policy.WorldNone) }},
		{Name: policy.KindExpr, Timeout: 100 * time.Millisecond, Cost: 100 * time.Nanosecond, OnGuard: policy.OnErrorDeny, OnOther: policy.OnErrorSkip, Prepare: rule},
		{Name: policy.KindRego, Timeout: 100 * time.Millisecond, Cost: 13 * time.Microsecond, OnGuard: policy.OnErrorDeny, OnOther: policy.OnErrorSkip, Prepare: rule},
		{Name: policy.KindBuiltin, Timeout: 100 * time.Millisecond, Cost: time.Microsecond, OnGuard: policy.OnErrorDeny, OnOther: policy.OnErrorSkip, Prepare: rule},
	}
}

// compile compiles and demands success.
func (b *bench) compile(t *testing.T, change ...func(*Config)) *dag.Program {
	t.Helper()
	p, found := b.try(change...)
	require.NotNil(t, p, found.Render())
	return p
}

func (b *bench) try(change ...func(*Config)) (*dag.Program, diag.List) {
	cfg := Config{Kinds: b.kinds()}
	for _, c := range change {
		c(&cfg)
	}
	return Compile(&b.policy, cfg)
}

// plan compiles and returns the plan of pre_tool_execution.
func (b *bench) plan(t *testing.T, change ...func(*Config)) *dag.Plan {
	t.Helper()
	return b.compile(t, change...).Plan(policy.PreToolExecution)
}

// order is a plan's nodes by label, items apart by bars.
func labelled(plan *dag.Plan) string {
	out := ""
	for i, item := range plan.Items {
		if i > 0 {
			out += " | "
		}
		for k, id := range item.Members {
			if k > 0 {
				out += " "
			}
			out += plan.Label(id)
		}
	}
	return out
}

func codes(list diag.List) []string {
	out := []string{}
	for _, d := range list {
		out = append(out, d.Code.ID+" "+d.Severity.String()+" "+d.Hook)
	}
	return out
}

// find is the first node of a hook.
func find(plan *dag.Plan, name string) *dag.Node {
	for i := range plan.Nodes {
		if plan.Nodes[i].Hook.Name == name {
			return &plan.Nodes[i]
		}
	}
	return nil
}

// edgesOf lists a plan's edges as text.
func edgesOf(plan *dag.Plan) []string {
	out := []string{}
	for _, e := range plan.Edges {
		start := ""
		if e.Start {
			start = "(start)"
		}
		out = append(out, plan.Label(e.From)+" "+string(e.Kind)+start+" "+plan.Label(e.To))
	}
	return out
}

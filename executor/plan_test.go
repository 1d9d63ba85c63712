package executor

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type bodyFunc func(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error)

// hook describes a node of a hand-made plan. The zero hook is an opaque bash
// hook that says nothing.
type hook struct {
	name          string
	kind          policy.Kind
	reads, writes []string // nil: everything the event has
	may           policy.Powers
	mute          bool // may: []
	world         policy.World
	spec, async   bool
	retry         int
	timeout       time.Duration
	onError       policy.Posture
	onTimeout     policy.Posture
	group         string
	recheckOf     string
	tool          string
	run           bodyFunc
}

func quiet(context.Context, *policy.Context, int) (policy.Result, error) {
	return policy.Result{}, nil
}

func says(r policy.Result) bodyFunc {
	return func(context.Context, *policy.Context, int) (policy.Result, error) { return r, nil }
}

func deny(reason string) policy.Result {
	return policy.Result{Verdict: policy.Deny, Reasons: []policy.Reason{{Text: reason}}}
}

// takes is a body that takes a while and obeys its context.
func takes(d time.Duration, r policy.Result) bodyFunc {
	return func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return r, nil
		case <-ctx.Done():
			return policy.Result{}, context.Cause(ctx)
		}
	}
}

// stubborn is a body that notices the end of its context only after a while.
func stubborn(d time.Duration) bodyFunc {
	return func(ctx context.Context, _ *policy.Context, _ int) (policy.Result, error) {
		<-ctx.Done()
		time.Sleep(d)
		return policy.Result{}, context.Cause(ctx)
	}
}

func paths(t *testing.T, spec *policy.EventSpec, names []string, all policy.Paths) policy.Paths {
	if names == nil {
		return all
	}
	var out []policy.Path
	for _, n := range names {
		p, err := policy.ParsePath(n)
		require.NoError(t, err)
		out = append(out, p)
	}
	return policy.NewPaths(out...)
}

// filled is h with the defaults of its kind.
func (h hook) filled() hook {
	if h.kind == "" {
		h.kind = policy.KindBash
	}
	if h.run == nil {
		h.run = quiet
	}
	if h.may == 0 && !h.mute {
		h.may = policy.AllPowers
	}
	if h.world == policy.WorldUnset {
		h.world = policy.WorldWrite
		if h.kind != policy.KindBash {
			h.world = policy.WorldNone
		}
	}
	return h
}

// planOf makes a plan of hooks by the definitions of D1, D2 and D3, all pairs.
func planOf(t *testing.T, e policy.Event, strategy policy.Strategy, hooks ...hook) *dag.Plan {
	spec := e.Spec()
	plan := &dag.Plan{Event: e, Spec: spec, Strategy: strategy.Spec(), MaxConcurrent: 8, MaxModels: 4, Inline: true}
	var reads policy.Paths
	for _, h := range hooks {
		h = h.filled()
		n := dag.Node{Hook: &policy.Hook{Name: h.name, Event: e, Kind: h.kind, Async: h.async}, Matcher: &policy.Matcher{},
			Runner: policy.RunnerFunc(h.run), Timeout: h.timeout, Retry: h.retry, OnError: h.onError, OnTimeout: h.onTimeout,
			RecheckOf: -1, Gate: -1, Slot: -1}
		if n.OnError == policy.PostureUnset {
			n.OnError = policy.OnErrorSkip
		}
		if n.OnTimeout == policy.PostureUnset {
			n.OnTimeout = n.OnError
		}
		n.Effects = policy.Effects{Reads: paths(t, spec, h.reads, spec.Readable()), Writes: paths(t, spec, h.writes, spec.Writable()),
			May: h.may, World: h.world, Spec: h.spec || h.kind.InProcess(), MayFail: true, Project: h.reads != nil}
		n.Effects.Sees = n.Effects.Reads
		if h.async {
			n.Effects.Writes, n.Effects.May, n.Effects.Spec = policy.Paths{}, 0, false
		}
		n.Reads = n.Effects.Reads
		if h.tool != "" {
			tool := h.tool
			n.Matcher.Atoms = []policy.Atom{{Key: policy.FilterToolName, Field: policy.FieldToolName, Values: []string{tool},
				Reads: []policy.Field{policy.FieldToolName}, Test: func(c *policy.Context) bool { return c.Text(policy.FieldToolName) == tool }}}
			n.Reads = n.Reads.Union(policy.FieldPaths(policy.FieldToolName))
		}
		if h.recheckOf != "" {
			n.RecheckOf = slices.IndexFunc(plan.Nodes, func(o dag.Node) bool { return o.Hook.Name == h.recheckOf })
			n.Hook = plan.Nodes[n.RecheckOf].Hook
		}
		reads = reads.Union(n.Reads)
		failing := n.OnError != policy.OnErrorSkip || n.OnTimeout != policy.OnErrorSkip
		n.MayHalt = !h.async && plan.Strategy.Halt != policy.HaltNever &&
			(plan.Strategy.Halt.Powers().Has(n.Effects.May&spec.Powers) || failing)
		id := len(plan.Nodes)
		if last := len(plan.Items) - 1; last >= 0 && (h.group != "" && plan.Items[last].Group == h.group || plan.Strategy.Snapshot) {
			plan.Items[last].Members = append(plan.Items[last].Members, id)
			n.Item = last
		} else {
			plan.Items = append(plan.Items, dag.Item{Members: []int{id}, Group: h.group, Fold: plan.Strategy.Fold})
			n.Item = last + 1
		}
		plan.Items[n.Item].MayHalt = plan.Items[n.Item].MayHalt || n.MayHalt
		plan.Inline = plan.Inline && h.kind.InProcess()
		plan.Nodes = append(plan.Nodes, n)
		plan.Index.Always = append(plan.Index.Always, id)
	}
	plan.Reads = reads
	connect(plan)
	return plan
}

// connect adds D1, D2 and D3 by their definitions.
func connect(plan *dag.Plan) {
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		for k := range plan.Nodes[:i] {
			o := &plan.Nodes[k]
			if o.Item == n.Item {
				continue
			}
			data := o.Effects.Writes.Overlaps(n.Reads)
			a, b := o.Effects.World, n.Effects.World
			order := a == policy.WorldWrite && b != policy.WorldNone || a == policy.WorldRead && b == policy.WorldWrite
			switch {
			case o.Hook.Async && order:
				n.Started = append(n.Started, k)
			case data || order:
				n.Wait = append(n.Wait, k)
			}
			if data && !o.Hook.Async {
				n.Data = append(n.Data, k)
			}
		}
		for it := n.Item - 1; it >= 0 && !n.Effects.Spec; it-- {
			if plan.Items[it].MayHalt {
				n.Gate = it
				break
			}
		}
	}
}

func programOf(plans ...*dag.Plan) *dag.Program {
	p := &dag.Program{Hash: "sha256:test", Plans: plans}
	p.Seal()
	return p
}

// fireOnce fires one event at a program of one plan and closes the Executor.
func fireOnce(t *testing.T, plan *dag.Plan, in *policy.Context) *policy.Decision {
	x := New(programOf(plan), Options{})
	defer x.Close()
	return x.Fire(t.Context(), plan.Event, in)
}

func bashCall() *policy.Context {
	return policy.NewContext("").Set(policy.FieldSessionID, "s").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
}

func statuses(d *policy.Decision) []policy.Status {
	var out []policy.Status
	for _, t := range d.Hooks {
		out = append(out, t.Status)
	}
	return out
}

package laws

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// mutants are plans that leave out part of what nodes wait for. Each must be
// told from the definition by random policies, else the oracle proves nothing
// (semantics.md §5.2 T3, law 35; architecture.md §4).
var mutants = []struct {
	name   string
	mutate func(*dag.Plan)
}{
	{"without D1", func(p *dag.Plan) {
		each(p, func(i int, n *dag.Node) { n.Data, n.Wait = nil, ordered(p, i) })
	}},
	{"without D2", func(p *dag.Plan) { each(p, func(_ int, n *dag.Node) { n.Gate = -1 }) }},
	{"without D3", func(p *dag.Plan) {
		each(p, func(_ int, n *dag.Node) { n.Wait, n.Started = slices.Clone(n.Data), nil })
	}},
	{"looks at a node it did not wait for", func(p *dag.Plan) {
		each(p, func(i int, n *dag.Node) { n.Wait = ordered(p, i) })
	}},
	{"joins only neighbours", func(p *dag.Plan) {
		each(p, func(_ int, n *dag.Node) {
			if len(n.Data) > 1 {
				n.Data = n.Data[len(n.Data)-1:]
			}
		})
	}},
	{"waits for the last gate only by its last member", func(p *dag.Plan) {
		for i := range p.Items {
			p.Items[i].MayHalt = i > 0 && p.Items[i].MayHalt
		}
		each(p, func(_ int, n *dag.Node) {
			if n.Gate == 0 {
				n.Gate = -1
			}
		})
	}},
	{"fuses rules that see different versions", func(p *dag.Plan) { p.Fused = everyRule(p) }},
}

// everyRule is a fusion of all rules of a plan, whatever version of the event
// they see.
func everyRule(p *dag.Plan) []dag.Fusion {
	all := dag.Fusion{Kind: policy.KindRego}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Exempt() && !n.Hook.Async && n.Effects.Spec && !n.Effects.Project {
			all.Nodes = append(all.Nodes, i)
		}
	}
	all.Run = func(ctx context.Context, in *policy.Context, chosen dag.Chosen, said []dag.FusedAnswer) error {
		for k, place := range chosen.Places {
			r, err := p.Nodes[all.Nodes[place]].Runner.Run(ctx, in, 0)
			if err != nil {
				return err
			}
			said[k].Result = &r
		}
		return nil
	}
	return []dag.Fusion{all}
}

func each(p *dag.Plan, change func(int, *dag.Node)) {
	for i := range p.Nodes {
		change(i, &p.Nodes[i])
	}
}

// ordered lists the nodes that node i waits for by D3.
func ordered(p *dag.Plan, i int) []int {
	var out []int
	for _, e := range p.Edges {
		if e.To == i && e.Kind == dag.OrderEdge && !e.Start {
			out = append(out, e.From)
		}
	}
	return out
}

func TestMutantsAreKilledByTheOracle(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			killed := -1
			synctest.Test(t, func(t *testing.T) {
				for seed := range uint64(1000) {
					w := newWorld(seed)
					prog := w.compile(t)
					in := w.context(0)
					want, _ := w.serial(prog, in, nil)
					got, _ := w.fire(t, changed(prog, m.mutate), in)
					if !assert.ObjectsAreEqual(want, got) {
						killed = int(seed)
						return
					}
				}
			})
			assert.GreaterOrEqual(t, killed, 0, "no policy tells it from the definition")
			t.Logf("killed by policy %d", killed)
		})
	}
}

// Translation validation kills them too, and passes what compiles.
func TestValidateKillsMutants(t *testing.T) {
	depth.NotShort(t)
	killed := make([]bool, len(mutants))
	for seed := range uint64(60) {
		if seed >= 20 && !depth.Full() && !slices.Contains(killed, false) {
			break
		}
		w := newWorld(seed)
		prog := w.compile(t)
		for _, plan := range prog.Plans {
			if !assert.NoError(t, executor.Validate(prog, plan)) {
				return
			}
		}
		for i, m := range mutants {
			if killed[i] {
				continue
			}
			mutated := changed(prog, m.mutate)
			killed[i] = slices.ContainsFunc(mutated.Plans, func(p *dag.Plan) bool { return executor.Validate(mutated, p) != nil })
		}
	}
	for i, m := range mutants {
		assert.True(t, killed[i], m.name)
	}
}

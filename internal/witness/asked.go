package witness

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// asked is the chain up to the rule's hook without those hooks before it that say
// nothing of an event, and where in it the hook is: they change nothing, so that the
// serial definition comes to the same without them. Hooks that are compiled into one
// evaluation are asked together, which takes a small part of the time that each alone
// does. Where the event may be another by then, it is the whole chain.
func (j *job) asked(in *policy.Context) (plan *dag.Plan, id int) {
	if j.rewritten {
		return &j.upto, j.id
	}
	before := j.upto.Items[len(j.upto.Items)-1].Members[0]
	silent, fused := make([]bool, before), make([]bool, len(j.plan.Nodes))
	for i := range silent {
		silent[i] = !j.plan.Nodes[i].Matcher.Match(in)
	}
	for i := range j.plan.Fused {
		j.silent(&j.plan.Fused[i], in, silent, fused)
	}
	out := j.upto
	out.Items, out.Nodes = nil, nil
	for _, item := range j.upto.Items {
		members := item.Members
		if m := members[0]; len(members) == 1 && m < before && (silent[m] || !fused[m] && quiet(&j.plan.Nodes[m], in)) {
			continue
		}
		item.Members = nil
		for _, m := range members {
			if m == j.id {
				id = len(out.Nodes)
			}
			item.Members, out.Nodes = append(item.Members, len(out.Nodes)), append(out.Nodes, j.upto.Nodes[m])
		}
		out.Items = append(out.Items, item)
	}
	return &out, id
}

// quiet reports whether a hook says nothing of an event that its filter matches.
func quiet(n *dag.Node, in *policy.Context) bool {
	r, err := (&onlyRules{}).Call(n, in, 0)
	return err == nil && !n.Effects.Project && r.Quiet() && len(r.Failed)+len(r.Warnings) == 0
}

// silent marks the members of a fusion, among the first nodes, that say nothing of an
// event. One of which that is not known is not marked; all are marked as fused.
func (j *job) silent(x *dag.Fusion, in *policy.Context, silent, fused []bool) {
	defer func() { _ = recover() }() // What panics does so again on its own.
	chosen := dag.Chosen{Places: make([]int, 0, len(x.Nodes))}
	for place, id := range x.Nodes {
		fused[id] = true
		if id < len(silent) && !silent[id] {
			chosen.Places = append(chosen.Places, place)
		}
	}
	answers := make([]dag.FusedAnswer, len(chosen.Places))
	if x.Run == nil || len(answers) == 0 || x.Run(j.ctx, in, chosen, answers) != nil {
		return
	}
	for i, place := range chosen.Places {
		silent[x.Nodes[place]] = answers[i].Result == nil && !answers[i].Alone
	}
}

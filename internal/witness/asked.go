package witness

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// asked is the chain up to the rule's hook without those hooks before it that say
// nothing of an event: they change nothing, so that the serial definition comes to the
// same without them. Hooks that are compiled into one evaluation are asked together,
// which takes a small part of the time that each alone does. Where the event may be
// another by then, it is the whole chain.
func (j *job) asked(in *policy.Context) *dag.Plan {
	if j.rewritten || len(j.plan.Fused) == 0 {
		return &j.upto
	}
	last := len(j.upto.Items) - 1
	silent := make([]bool, len(j.upto.Nodes))
	for i := range j.plan.Fused {
		j.silent(&j.plan.Fused[i], j.upto.Items[last].Members[0], in, silent)
	}
	out := j.upto
	out.Items = nil
	for _, item := range j.upto.Items[:last] {
		if len(item.Members) > 1 || !silent[item.Members[0]] {
			out.Items = append(out.Items, item)
		}
	}
	out.Items = append(out.Items, j.upto.Items[last])
	return &out
}

// silent marks the members of a fusion, before a node, that say nothing of an event.
// One of which that is not known is not marked.
func (j *job) silent(x *dag.Fusion, before int, in *policy.Context, silent []bool) {
	defer func() { _ = recover() }() // What panics does so again on its own.
	var chosen dag.Chosen
	for place, id := range x.Nodes {
		if id < before && j.plan.Nodes[id].Matcher.Match(in) {
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

package rego

import (
	"context"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// watched lets the eyes of the members look at what was said together. A member
// that is not to be believed is asked on its own, which is topdown then.
func (f *FusedNative) watched(ctx context.Context, in *policy.Context, path uint64, choice dag.Chosen, contribution []dag.FusedAnswer) {
	eyes, chosen := f.members[0].eyes, choice.Places
	if len(chosen) < len(f.members) {
		path ^= choice.Mark()
	}
	now := eyes.changes.Load()
	if f.change.Load() == now && !f.doubted.Load() && !eyes.Paranoid && f.paths.sees(path) {
		return
	}
	for k, i := range chosen {
		switch n := f.members[i]; {
		case n.Wrong():
			contribution[k] = dag.FusedAnswer{Alone: true}
		case eyes.Paranoid && !contribution[k].Alone: // what was said together is what is looked at
			out, err := n.stricter(ctx, in, contribution[k].Result, nil)
			contribution[k] = dag.FusedAnswer{Result: out, Alone: err != nil}
		}
	}
	if slices.ContainsFunc(f.members, (*Native).Wrong) {
		f.doubted.Store(true)
	}
	f.change.Store(now)
	if eyes.Paranoid {
		return
	}
	sight := f.paths.look(path)
	if sight == seen {
		return
	}
	if sight == first && f.later(in, path, chosen, contribution) {
		return
	}
	for k, i := range chosen {
		if contribution[k].Alone {
			continue
		}
		out, err := f.members[i].topdown(ctx, in)
		contribution[k] = dag.FusedAnswer{Result: out, Alone: err != nil}
	}
}

// later asks topdown for each of the chosen, beside the event.
func (f *FusedNative) later(in *policy.Context, path uint64, chosen []int, contribution []dag.FusedAnswer) bool {
	e := f.members[0].eyes
	if e.pending.Add(1) > maxPending || f.input.long(in) {
		e.pending.Add(-1)
		f.paths.done(path, false)
		return false
	}
	type asked struct {
		n            *Native
		input        ast.Value
		contribution *policy.Result
	}
	var all []asked
	for k, i := range chosen {
		if contribution[k].Alone {
			continue
		}
		a := asked{n: f.members[i], input: f.members[i].input.value(in)}
		if contribution[k].Result != nil {
			kept := *contribution[k].Result
			a.contribution = &kept
		}
		all = append(all, a)
	}
	e.checks.Add(1)
	go func() {
		defer e.checks.Done()
		defer e.pending.Add(-1)
		same := true
		for _, a := range all {
			same = a.n.check(a.input, a.contribution, nil) && same
		}
		f.paths.done(path, same)
	}()
	return true
}

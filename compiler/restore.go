package compiler

import (
	"errors"
	"sync"

	"github.com/hookc/hookc/compiler/lint"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Restorable reports whether Restore gives what Compile would: other passes left
// out, or a trace, need the passes to run.
func Restorable(cfg Config) bool {
	for _, name := range cfg.Without {
		if name != "fuse" && name != "native" {
			return false
		}
	}
	return cfg.Trace == nil && !cfg.Strict
}

// Restore makes what a program that was compiled before and read from an artifact
// lacks, since it is no data: bodies, which their kinds make of what they wrote
// (codes, by event and node); the tests of filters, each compiled when it is
// first asked; what follows from the event, the settings and the profile; and
// fused evaluations, made when they are first wanted, before which each member
// is evaluated on its own. p is the policy the program was compiled from; of its
// filters, those in an agent's own words must have their tests. Measured costs
// are laid over the estimates. The error says that the program cannot be one
// that was compiled.
func Restore(p *policy.Policy, program *dag.Program, codes map[policy.Event][][]byte, cfg Config) error {
	u := newUnit(p, cfg)
	for _, plan := range program.Plans {
		if err := u.restore(plan, codes[plan.Event]); err != nil {
			return fault.Errorf("the plan of %s: %w", plan.Event, err)
		}
	}
	program.Seal()
	return nil
}

func (u *unit) restore(plan *dag.Plan, codes [][]byte) error {
	if err := checkShape(plan, len(codes)); err != nil {
		return err
	}
	deadline := plan.Deadline // what settle reads is the event's own setting
	plan.Spec = plan.Event.Spec()
	u.settle(plan)
	plan.Deadline = deadline
	measured := false
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if err := restoreMatcher(plan.Spec, n); err != nil {
			return err
		}
		measured = u.measure(plan, n) || measured
		if n.RecheckOf >= 0 {
			n.Runner = plan.Nodes[n.RecheckOf].Runner
			continue
		}
		k := u.kinds[n.Hook.Kind]
		if k == nil {
			return errShape
		}
		if k.Decode == nil {
			return fault.Errorf("hooks of kind %s do not go into artifacts", n.Hook.Kind)
		}
		code := codes[i]
		if u.without("native") {
			code, n.Engine, n.Brief = nil, "", false
		}
		if n.Runner = k.Decode(n.Hook, code); n.Runner == nil {
			return errCode
		}
	}
	if measured {
		plan.Estimate = plan.Estimated(nil)
	}
	u.restoreFused(plan)
	return nil
}

// measure lays a measured cost over the estimate of a node.
func (u *unit) measure(plan *dag.Plan, n *dag.Node) bool {
	if u.cfg.Costs == nil {
		return false
	}
	p50, ok := u.cfg.Costs(plan.Event, n.Hook.Name)
	if ok {
		n.Cost, n.Measured = p50, true
	}
	return ok
}

var (
	errShape = errors.New("it is damaged")
	errCode  = errors.New("its code is of another hookc, or is damaged: compile it again")
)

// checkShape checks what executors take for granted of the numbers in a plan.
func checkShape(plan *dag.Plan, codes int) error {
	n := len(plan.Nodes)
	if _, known := policy.ParseEvent(string(plan.Event)); !known || codes != n {
		return errShape
	}
	within := func(ids []int, limit int) bool {
		for _, id := range ids {
			if id < 0 || id >= limit {
				return false
			}
		}
		return true
	}
	for i := range plan.Nodes {
		x := &plan.Nodes[i]
		if x.Hook == nil || x.Matcher == nil || x.Item < 0 || x.Item >= len(plan.Items) || x.RecheckOf >= i || x.Gate >= len(plan.Items) ||
			x.Slot >= n || !within(x.Wait, n) || !within(x.Started, n) || !within(x.Data, n) {
			return errShape
		}
	}
	for _, item := range plan.Items {
		if !within(item.Members, n) {
			return errShape
		}
	}
	for _, f := range plan.Fused {
		if !within(f.Nodes, n) || len(f.Nodes) < 2 {
			return errShape
		}
	}
	return checkIndex(&plan.Index, func(ids []int) bool { return within(ids, n) })
}

func checkIndex(x *dag.Index, within func([]int) bool) error {
	ok := within(x.Always)
	for _, ids := range x.Exact {
		ok = ok && within(ids)
	}
	for _, texts := range []map[int]map[string][]int{x.Prefixes, x.Suffixes} {
		for length, all := range texts {
			for text, ids := range all {
				ok = ok && len(text) == length && within(ids)
			}
		}
	}
	if !ok {
		return errShape
	}
	return nil
}

// restoreMatcher gives the atoms of a node their tests. A copy for a recheck has
// the matcher of its original.
func restoreMatcher(spec *policy.EventSpec, n *dag.Node) error {
	atoms := n.Matcher.Atoms
	if len(atoms) == 0 || atoms[0].Test != nil {
		return nil
	}
	lazy := make([]lazyAtom, len(atoms))
	i := 0
	for c := range effective(&n.Hook.Filter) {
		if i == len(atoms) || atoms[i].Key != c.Key {
			return errShape
		}
		if c.Key == policy.FilterNative {
			if c.Atom == nil || c.Atom.Test == nil {
				return fault.Errorf("the filter of %s cannot be made again", n.Hook.Name)
			}
			atoms[i].Test = c.Atom.Test
		} else {
			if conditions[c.Key] == nil {
				return errShape
			}
			lazy[i] = lazyAtom{spec: spec, filter: &n.Hook.Filter, condition: c}
			atoms[i].Test = lazy[i].test
		}
		i++
	}
	if i != len(atoms) {
		return errShape
	}
	return nil
}

// lazyAtom is a condition that is compiled when it is first asked: most of a
// policy's concern other tools.
type lazyAtom struct {
	spec      *policy.EventSpec
	filter    *policy.Filter
	condition *policy.Condition
	once      sync.Once
	made      func(*policy.Context) bool
}

func (l *lazyAtom) test(c *policy.Context) bool {
	l.once.Do(func() {
		atom, problem := atomOf(l.spec, l.filter, l.condition)
		if problem != nil {
			panic("compiler: a filter that compiled does not any more: " + problem.Text)
		}
		l.made = atom.Test
	})
	return l.made(c)
}

// restoreFused gives a plan its fused evaluations, made when they are first
// wanted, or none under --without fuse.
func (u *unit) restoreFused(plan *dag.Plan) {
	if u.cfg.Once || u.without("fuse") {
		plan.Fused = nil
	}
	for i := range plan.Fused {
		f := &plan.Fused[i]
		k := u.kinds[f.Kind]
		if k == nil || k.Fuse == nil {
			continue
		}
		f.Lazy = dag.NewLazyFusion(func() dag.FusedRun { return fuseAgain(k, plan, f.Nodes) }, u.cfg.Background)
		f.Run = f.Lazy.Run
	}
}

// fuseAgain fuses the bodies of nodes, or gives nil if they do not all go
// together as they did when the program was compiled.
func fuseAgain(k *dag.Kind, plan *dag.Plan, nodes []int) dag.FusedRun {
	parts := make([]dag.FusePart, len(nodes))
	for i, id := range nodes {
		n := &plan.Nodes[id]
		parts[i] = dag.FusePart{Runner: n.Runner, Filter: n.Matcher}
		if d, ok := n.Runner.(dag.Deferred); ok {
			parts[i].Runner = d.Made()
		}
	}
	members, build := k.Fuse(parts)
	if len(members) < len(parts) {
		return nil
	}
	return build()
}

// Lint is what the pass lint reports of a program and the policy it was compiled
// from, sorted.
func Lint(p *policy.Policy, program *dag.Program, hints bool) diag.List {
	out := lint.Run(&lint.Target{Policy: p, Plans: program.Plans, Tools: p.Tools, Hints: hints, WhatIf: whatIf})
	out.Sort()
	return out
}

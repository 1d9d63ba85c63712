// Package lint holds what can be said about a compiled policy that its author
// would want to know: one finding a file (semantics.md §9). It looks at plans
// and changes nothing; the compiler's passes lint and dead call it.
package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Target is what the lints look at.
type Target struct {
	Policy *policy.Policy
	Plans  []*dag.Plan
	Tools  policy.Catalogue
	// Hints asks for the latency hints (HK21x) and for what is merely likely;
	// explain shows those, check does not.
	Hints bool
	// WhatIf estimates a plan whose nodes were changed by change. The plan is
	// not touched.
	WhatIf func(plan *dag.Plan, change func(*dag.Node)) dag.Estimate
}

// Lint is one check.
type Lint struct {
	// Name is what the check is called in lists.
	Name string
	// Codes are what it reports.
	Codes []*diag.Code
	// Hint is true for latency hints, which run only when asked for.
	Hint bool
	// Bodies is true for a check that looks into bodies.
	Bodies bool
	run    func(*Target) diag.List
}

// lints is the table; the order is that of the codes.
var lints = []Lint{
	{Name: "deadline", Codes: []*diag.Code{codeDeadline}, run: deadlines},
	{Name: "fail-open", Codes: []*diag.Code{codeFailOpen}, run: failOpen},
	{Name: "never-matches", Codes: []*diag.Code{CodeNeverMatches}, run: neverMatches},
	{Name: "unreachable", Codes: []*diag.Code{CodeUnreachable}, run: unreachable},
	{Name: "wide-matcher", Codes: []*diag.Code{codeWide}, run: wideMatchers},
	{Name: "write-conflict", Codes: []*diag.Code{codeConflict}, run: conflicts},
	{Name: "check-then-rewrite", Codes: []*diag.Code{codeRewrite}, run: rewrites},
	{Name: "order-sensitive", Codes: []*diag.Code{codeFold}, run: folds},
	{Name: "mixed-strategy", Codes: []*diag.Code{codeMixed}, run: mixed},
	{Name: "undeclared-observer", Codes: []*diag.Code{codeObserver}, Hint: true, run: observers},
	{Name: "movable-rule", Codes: []*diag.Code{codeMovable}, Hint: true, run: movable},
	{Name: "unfiltered-process", Codes: []*diag.Code{codeUnfiltered}, Hint: true, run: unfiltered},
	{Name: "unindexable-rule", Codes: []*diag.Code{codeUnindexable}, Hint: true, Bodies: true, run: unindexable},
}

// Lints lists the checks by code.
func Lints() []Lint { return lists.Copy(lints) }

// Run reports everything the checks find, unsorted.
func Run(t *Target) diag.List { return append(RunPlans(t), RunBodies(t)...) }

// RunPlans reports what those checks find that do not look into bodies, and
// RunBodies what the others do.
func RunPlans(t *Target) diag.List { return run(t, false) }

// RunBodies is described at RunPlans.
func RunBodies(t *Target) diag.List { return run(t, true) }

func run(t *Target, bodies bool) diag.List {
	var out diag.List
	for _, l := range lints {
		if l.Bodies == bodies && (t.Hints || !l.Hint) {
			out.Add(l.run(t)...)
		}
	}
	return out
}

// restrictive is what makes a hook a guard.
const restrictive = policy.MayAsk | policy.MayDefer | denies

// denies is what keeps the guarded action from happening.
const denies = policy.MayDeny | policy.MaySkip | policy.MayStop | policy.MayHalt

// original reports whether a node is a hook's own, not a recheck copy.
//
//go:noinline
func original(n *dag.Node) bool { return n.RecheckOf < 0 }

// opaque reports whether the node's writes are merely what its event allows,
// neither inferred nor declared.
//
//go:noinline
func opaque(n *dag.Node) bool {
	return !n.Hook.Kind.InProcess() && n.Hook.Declared.Writes == nil
}

// Meet reports whether the filters of two nodes may match one event. It errs
// only towards yes.
func Meet(plan *dag.Plan, a, b *dag.Node) bool {
	if a.Matcher.Excludes(b.Matcher, plan.Spec.Writable()) {
		return false
	}
	tools, named := toolNames(a.Matcher)
	if !named {
		tools, named = toolNames(b.Matcher)
	}
	return !named || slices.ContainsFunc(tools, func(tool string) bool {
		return byName(plan.Event, tool, a.Matcher) && byName(plan.Event, tool, b.Matcher)
	})
}

// toolNames are the names of a filter's condition on the tool's name, if it
// lists them.
func toolNames(m *policy.Matcher) ([]string, bool) {
	for i := range m.Atoms {
		if a := &m.Atoms[i]; a.Field == policy.FieldToolName && a.Op == policy.AtomIn {
			return a.Values, true
		}
	}
	return nil, false
}

// byName reports whether the filter may match a call of the tool, as far as
// its name tells.
//
//go:noinline
func byName(event policy.Event, tool string, m *policy.Matcher) bool {
	for i := range m.Atoms {
		if !holds(event, tool, &m.Atoms[i]) {
			return false
		}
	}
	return true
}

// holds reports whether an atom may hold for a call of the tool. What it says
// of the name and kind alone is found by asking it: no hook can change those.
func holds(event policy.Event, tool string, a *policy.Atom) bool {
	c := policy.NewContext(event).Set(policy.FieldToolName, tool)
	for _, f := range a.Reads {
		settled := f == policy.FieldToolName || f == policy.FieldToolKind
		if !settled || !c.Has(f) {
			return true
		}
	}
	return a.Test(c)
}

// names joins hook names for people.
func names(list []string) string {
	if n := len(list); n > 3 {
		return fmt.Sprintf("%s and %d others", strings.Join(list[:3], ", "), n-3)
	}
	return strings.Join(list, ", ")
}

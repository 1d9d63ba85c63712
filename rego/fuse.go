package rego

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// Part is a hook offered for fusion: its module and its compiled filter.
type Part struct {
	Module *Module
	Filter *policy.Matcher
}

// Fused is several modules made one query (semantics.md §4.3, P8): a set of
// what their entry points say, to which every rule adds its own, so that
// OPA's rule index looks at the rules of all hooks at once. It is immutable
// and safe for concurrent use.
type Fused struct {
	// Members are the parts fused, as indices into what Fuse was given,
	// ascending.
	Members []int
	// Fault is why they could not be fused, "" when they were; only Members is
	// of use then.
	Fault string

	code
	members []member
	entries []fusedEntry // by the number that begins a row
	ask     ast.Body
	input   projection
	budget  time.Duration
}

// member is one module of a fusion.
type member struct {
	m *Module
	// asked is the key that says it was chosen, nil for one whose filter the
	// rules themselves express.
	asked *ast.Term
}

// fusedEntry is an entry point of a member.
type fusedEntry struct {
	member int
	entry  *entry
	// set is true when each of the values stands in a row of its own.
	set bool
}

const (
	// fusedRoot is the package of the dispatcher, which its rules add to the
	// set called fusedSet; no author writes such a name.
	fusedRoot = "hookc fused"
	fusedSet  = "out"
	// chosenKey is the part of input that names the chosen members.
	chosenKey = "hookc chosen"
	fusedVar  = ast.Var("hookc_out")
)

// Fusible is parts that can be fused.
type Fusible struct {
	// Members are the parts, as indices into what Sort was given, ascending.
	Members []int

	kin   *kin
	parts []Part
}

// Fuse compiles the parts to one query.
func (f *Fusible) Fuse() *Fused { return f.kin.fuse(f.parts) }

// Fuse sorts parts into fusions and makes them.
func Fuse(parts []Part) []*Fused {
	var out []*Fused
	for _, f := range Sort(parts) {
		out = append(out, f.Fuse())
	}
	return out
}

// Sort sorts parts into fusions: modules that see the same library and data
// can be one. A part that fits no other, or that sees what it would share, is
// in none. Parts must be pure and see one version of the event.
func Sort(parts []Part) []Fusible {
	var kins []*kin
	for i, p := range parts {
		if p.Module.kin == nil || p.Module.input.whole && inexact(p.Filter) {
			continue // the key that names the chosen would be part of the whole
		}
		at := slices.IndexFunc(kins, func(k *kin) bool { return k.takes(p.Module) })
		if at < 0 {
			kins = append(kins, newKin(p.Module))
			at = len(kins) - 1
		}
		kins[at].add(i, p.Module)
	}
	var out []Fusible
	for _, k := range kins {
		if len(k.members) > 1 {
			out = append(out, Fusible{k.members, k, parts})
		}
	}
	return out
}

// inexact reports whether a filter says more than its exact conditions.
func inexact(m *policy.Matcher) bool {
	return m != nil && slices.ContainsFunc(m.Atoms, func(a policy.Atom) bool { return a.Op != policy.AtomIn })
}

// Input is the part of an event that the members refer to.
func (f *Fused) Input(c *policy.Context) Value { return f.input.value(c) }

// Run is a dag.FusedRun. It fails when any member does, chosen or not, or when
// all of them together take longer than the most patient would alone: with the
// sum of their budgets, one rule without end would hold the event for all.
func (f *Fused) Run(ctx context.Context, in *policy.Context, chosen []int, said []dag.FusedSaid) error {
	if f.input.long(in) {
		return errStopped
	}
	return f.Eval(ctx, f.Input(in), chosen, said)
}

// Eval is Run on an input made before by Input.
func (f *Fused) Eval(ctx context.Context, input Value, chosen []int, said []dag.FusedSaid) error {
	term := ast.NewTerm(f.withChosen(input, chosen))
	var rows *ast.Term
	steps := newStepBudget(ctx, f.budget)
	err := f.query(f.ask, term, steps).Iter(ctx, func(r topdown.QueryResult) error {
		rows = r[fusedVar]
		return nil
	})
	if err != nil {
		return fmt.Errorf("fused evaluation: %w", err)
	}
	set, ok := rows.Value.(ast.Set)
	if !ok || set.Len() == 0 {
		return nil
	}
	f.share(ctx, term, set.Slice(), chosen, said)
	return nil
}

// withChosen adds the names of the chosen among the members whose filters the
// rules do not express.
func (f *Fused) withChosen(input Value, chosen []int) Value {
	var pairs [][2]*ast.Term
	for _, i := range chosen {
		if key := f.members[i].asked; key != nil {
			pairs = append(pairs, [2]*ast.Term{key, ast.InternedTerm(true)})
		}
	}
	if pairs == nil {
		return input
	}
	more, _ := input.(ast.Object).Merge(ast.NewObject([2]*ast.Term{ast.StringTerm(chosenKey), ast.ObjectTerm(pairs...)}))
	return more
}

// share gives each chosen member its rows, which are sorted by their numbers.
func (f *Fused) share(ctx context.Context, input *ast.Term, rows []*ast.Term, chosen []int, said []dag.FusedSaid) {
	for at := 0; at < len(rows); {
		owner := f.entries[rowNumber(rows[at])].member
		end := at + 1
		for end < len(rows) && f.entries[rowNumber(rows[end])].member == owner {
			end++
		}
		if k, ok := slices.BinarySearch(chosen, owner); ok {
			said[k] = f.answer(ctx, owner, input, rows[at:end])
		}
		at = end
	}
}

// answer makes a member's result of its rows, as Module.Eval does of the
// values of its entry points.
func (f *Fused) answer(ctx context.Context, i int, input *ast.Term, rows []*ast.Term) dag.FusedSaid {
	m := f.members[i].m
	a := answer{m: m, ctx: ctx, input: input, steps: newStepBudget(ctx, m.budget)}
	for at := 0; at < len(rows); {
		number := rowNumber(rows[at])
		end := at + 1
		for end < len(rows) && rowNumber(rows[end]) == number {
			end++
		}
		e := &f.entries[number]
		value := rowValue(rows[at]).Value
		if e.set {
			values := ast.NewSetWithCapacity(end - at)
			for _, row := range rows[at:end] {
				values.Add(rowValue(row))
			}
			value = values
		}
		if err := a.add(e.entry, value); err != nil {
			return dag.FusedSaid{Alone: true}
		}
		at = end
	}
	return dag.FusedSaid{Result: &a.result}
}

func rowNumber(row *ast.Term) int {
	n, err := strconv.Atoi(string(row.Value.(*ast.Array).Elem(0).Value.(ast.Number)))
	if err != nil {
		panic("rego: a row of a fused query has no number: " + err.Error())
	}
	return n
}

func rowValue(row *ast.Term) *ast.Term { return row.Value.(*ast.Array).Elem(1) }

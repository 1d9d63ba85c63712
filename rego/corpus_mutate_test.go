package rego

import (
	"math/rand/v2"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/native"
)

// mutant is a module that differs from m in a few places, nil when none of
// some attempts compiles.
func (m *corpusModule) mutant(rng *rand.Rand) *corpusRun {
	for range 6 {
		module := m.parsed.Copy()
		if rng.IntN(4) == 0 {
			enlarge(module, rng)
		}
		for range 1 + rng.IntN(3) {
			mutateModule(module, rng)
		}
		if r := m.open(module); r != nil {
			return r
		}
	}
	return nil
}

// enlarge gives a module many rules that differ in literals, as an index is
// made of.
func enlarge(module *ast.Module, rng *rand.Rand) {
	first := len(module.Rules)
	for _, r := range module.Rules[:first] {
		if r.Head.RuleKind() == ast.MultiValue {
			for range 6 {
				module.Rules = append(module.Rules, r.Copy())
			}
		}
	}
	for range len(module.Rules) - first {
		swapLiteral(module, rng)
	}
}

// likeFunctions are functions that stand for each other.
var likeFunctions = [][]string{
	{"equal", "neq", "lt", "lte", "gt", "gte"},
	{"contains", "startswith", "endswith", "regex.match"},
	{"strings.any_prefix_match", "strings.any_suffix_match"},
	{"lower", "upper", "trim_space", "urlquery.decode", "base64.encode"},
	{"count", "max", "min", "sum", "sort", "type_name", "json.marshal"},
	{"trim_prefix", "trim_suffix", "trim", "trim_left", "split", "indexof", "indexof_n", "strings.count"},
	{"plus", "minus", "mul", "div", "rem"},
	{"and", "or", "minus"},
	{"floor", "ceil", "round", "abs", "to_number", "is_number", "is_string"},
	{"regex.find_n", "regex.find_all_string_submatch_n"},
	{"semver.compare", "net.cidr_contains", "net.cidr_intersects", "array.concat", "object.union"},
	{"time.clock", "time.date", "time.weekday"},
}

// mutate changes one place of a module.
func mutateModule(module *ast.Module, rng *rand.Rand) {
	bodies := bodiesOf(module)
	if len(bodies) == 0 {
		return
	}
	body := bodies[rng.IntN(len(bodies))]
	at := rng.IntN(len(*body))
	switch rng.IntN(12) {
	case 0:
		if len(*body) > 1 {
			*body = slices.Delete(*body, at, at+1)
		}
	case 1:
		*body = slices.Insert(*body, rng.IntN(len(*body)+1), (*body)[at].Copy())
	case 2, 3:
		other := rng.IntN(len(*body))
		(*body)[at], (*body)[other] = (*body)[other], (*body)[at]
	case 4:
		negate((*body)[at])
	case 5, 6:
		swapOperator(module, rng)
	case 7, 8:
		swapLiteral(module, rng)
	case 9:
		swapReference(module, rng)
	case 10:
		swapBody(module, body, rng)
	case 11:
		i := rng.IntN(len(module.Rules))
		module.Rules = slices.Insert(module.Rules, i, module.Rules[i].Copy())
		mutateAgain(module, rng)
	}
	for _, b := range bodies {
		for i, e := range *b {
			e.Index = i
		}
	}
}

// negate negates an expression that not can stand before.
func negate(e *ast.Expr) {
	switch e.Terms.(type) {
	case *ast.Term, []*ast.Term:
		if !e.IsAssignment() {
			e.Negated = !e.Negated
		}
	}
}

// mutateAgain makes two rules that were the same differ, where it can.
func mutateAgain(module *ast.Module, rng *rand.Rand) {
	swapLiteral(module, rng)
	swapOperator(module, rng)
}

// bodiesOf are the bodies of rules and of what stands in them.
func bodiesOf(module *ast.Module) []*ast.Body {
	var out []*ast.Body
	for _, rule := range module.Rules {
		for r := rule; r != nil; r = r.Else {
			if len(r.Body) > 0 {
				out = append(out, &r.Body)
			}
		}
	}
	ast.WalkTerms(module, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case *ast.ArrayComprehension:
			out = append(out, &v.Body)
		case *ast.SetComprehension:
			out = append(out, &v.Body)
		case *ast.ObjectComprehension:
			out = append(out, &v.Body)
		}
		return false
	})
	ast.WalkExprs(module, func(e *ast.Expr) bool {
		if every, ok := e.Terms.(*ast.Every); ok {
			out = append(out, &every.Body)
		}
		return false
	})
	return out
}

// termsOf are the terms of a module that may be changed, by what they hold.
func termsOf(module *ast.Module, want func(v ast.Value) bool) []*ast.Term {
	var out []*ast.Term
	for _, r := range module.Rules {
		ast.WalkTerms(r, func(t *ast.Term) bool {
			if want(t.Value) {
				out = append(out, t)
			}
			return false
		})
	}
	return out
}

func swapOperator(module *ast.Module, rng *rand.Rand) {
	terms := termsOf(module, func(v ast.Value) bool { return alike(v) != nil })
	if len(terms) == 0 {
		return
	}
	t := terms[rng.IntN(len(terms))]
	group := alike(t.Value)
	t.Value = ast.BuiltinMap[group[rng.IntN(len(group))]].Ref().Copy()
}

func alike(v ast.Value) []string {
	ref, ok := v.(ast.Ref)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(likeFunctions, func(group []string) bool { return slices.Contains(group, ref.String()) })
	if i < 0 {
		return nil
	}
	return likeFunctions[i]
}

func swapLiteral(module *ast.Module, rng *rand.Rand) {
	terms := termsOf(module, func(v ast.Value) bool {
		switch v.(type) {
		case ast.String, ast.Number, ast.Boolean:
			return true
		}
		return false
	})
	if len(terms) == 0 {
		return
	}
	t := terms[rng.IntN(len(terms))]
	refs := termsOf(module, func(v ast.Value) bool { return inputPath(v, nil) != nil })
	if rng.IntN(6) == 0 && len(refs) > 0 {
		t.Value = refs[rng.IntN(len(refs))].Copy().Value
		return
	}
	if rng.IntN(3) == 0 {
		t.Value = ast.MustInterfaceToValue(jsonValue(oddValues[rng.IntN(len(oddValues))]))
		return
	}
	t.Value = terms[rng.IntN(len(terms))].Copy().Value
}

func swapReference(module *ast.Module, rng *rand.Rand) {
	terms := termsOf(module, func(v ast.Value) bool { return inputPath(v, nil) != nil })
	if len(terms) == 0 {
		return
	}
	terms[rng.IntN(len(terms))].Value = terms[rng.IntN(len(terms))].Copy().Value
}

// swapBody puts an expression of another body into one.
func swapBody(module *ast.Module, body *ast.Body, rng *rand.Rand) {
	bodies := bodiesOf(module)
	other := *bodies[rng.IntN(len(bodies))]
	*body = slices.Insert(*body, rng.IntN(len(*body)+1), other[rng.IntN(len(other))].Copy())
}

// shrink leaves out rules and expressions as long as a document still differs.
func (r *corpusRun) shrink(i int, input ast.Value) *corpusRun {
	want := r.wants[i]
	differs := func(module *ast.Module) *corpusRun {
		run := r.open(module)
		if run == nil {
			return nil
		}
		at := slices.IndexFunc(run.wants, func(w ast.Value) bool { return w.Compare(want) == 0 })
		if at < 0 || run.plan.reason(at) != "" || newCorpusOutcome().compare(run, &native.Machine{}, at, input) == "" {
			return nil
		}
		return run
	}
	least := r
	for smaller := true; smaller; {
		smaller = false
		for at := 0; at < len(least.module.Rules); at++ {
			module := least.module.Copy()
			module.Rules = slices.Delete(module.Rules, at, at+1)
			if run := differs(module); run != nil {
				least, smaller = run, true
				at--
			}
		}
		for b := range bodiesOf(least.module) {
			for at := 0; b < len(bodiesOf(least.module)) && at < len(*bodiesOf(least.module)[b]); at++ {
				module := least.module.Copy()
				body := bodiesOf(module)[b]
				if len(*body) < 2 {
					break
				}
				*body = slices.Delete(*body, at, at+1)
				for i, e := range *body {
					e.Index = i
				}
				if run := differs(module); run != nil {
					least, smaller = run, true
					at--
				}
			}
		}
	}
	return least
}

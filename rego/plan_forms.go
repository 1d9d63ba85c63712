package rego

import "strings"

// form is a way of writing Rego of which it is known that OPA's plan evaluates
// it as topdown does. The list is complete: what is written otherwise is
// topdown's. Each form is written by a generator, and a test counts the answers
// that native code gave of it (docs/rego.md, "What is native").
type form uint8

const (
	formComplete form = iota
	formPartial
	formSet
	formSetsBelow
	formFunction
	formDefault
	formElse
	formTerm
	formBuiltin
	formCall
	formRelation
	formUnify
	formEvery
	formNegation
	formNotBody
	formAndOr
	formWithInput
	formWithData
	formWithRule
	formWithFunction
	formLocal
	formRule
	formBase
	formPackage
	formTable
	formValue
	formComprehension
	numForms
)

// formTexts say of each form what it is, for explain and the artifact, and why
// its plan means what topdown means by it.
var formTexts = [numForms]struct{ name, argument string }{
	formComplete:      {"complete rule", "its path is constant and no other rule is above or below it, so it is one function of the plan"},
	formPartial:       {"partial object", "all rules of its constant beginning have names of one length and kind, so the function makes the whole object and a lookup takes a part of it"},
	formSet:           {"partial set", "its path is constant, and the function makes the whole set"},
	formSetsBelow:     {"partial sets in an object", "as a partial object, the values of which are sets"},
	formFunction:      {"function", "its path is constant, and all rules there take as many arguments"},
	formDefault:       {"default", "it stands alone at its path and is evaluated when the function has no value"},
	formElse:          {"else", "its branches are blocks of one function, each after the one before gave nothing"},
	formTerm:          {"term", "a reference or variable that must not be false; a constant"},
	formBuiltin:       {"builtin call", "a call with arguments that have values, whose result differs from false"},
	formCall:          {"function call", "the function is found by its constant path when it is planned"},
	formRelation:      {"relation", "a scan of what walk gives, which is not inside a negation"},
	formUnify:         {"equation", "both sides are taken apart, and no variable is united with one that has no value"},
	formEvery:         {"every", "a scan that looks for an element of which the body does not hold"},
	formNegation:      {"not", "its block consists of steps each of which fails as a whole: no scan, and no choice among rules"},
	formNotBody:       {"not of a body", "a variable says whether the body held, and is undefined before it"},
	formAndOr:         {"and, or", "a variable says whether each side held"},
	formWithInput:     {"with input", "input is replaced in a block, and put back for what follows"},
	formWithData:      {"with data", "a base document that is not there, with no rules on its path, is put in for a block"},
	formWithRule:      {"with a rule", "a complete rule is replaced: functions are planned again without it"},
	formWithFunction:  {"with a function", "functions are planned again with the other in its place"},
	formLocal:         {"reference to a value", "steps into input or a variable"},
	formRule:          {"reference to a rule", "a constant path ends at rules that are one function; the rest are steps into their value"},
	formBase:          {"reference to a base document", "no rule is on its constant path, nor below it"},
	formPackage:       {"a package as a value", "all of its rules have constant paths, no base document is at or below its path, and none is replaced"},
	formTable:         {"lookup by a computed name", "its rules are complete and have names of one length, each is called or iterated in a block with all that follows, and it is not inside a negation"},
	formValue:         {"value", "scalars, arrays, objects and sets"},
	formComprehension: {"comprehension", "a block that adds to what it began with, and never fails"},
}

// forms is a set of them.
type forms uint32

//go:noinline
func (s *forms) add(f form) { *s |= 1 << f }

func (s forms) has(f form) bool { return s&(1<<f) != 0 }

func (s forms) String() string {
	var out []string
	for f := range numForms {
		if s.has(f) {
			out = append(out, formTexts[f].name)
		}
	}
	return strings.Join(out, ", ")
}

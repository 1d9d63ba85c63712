// Package builtins holds what rules can call: functions, under one dotted name
// in expr and in Rego, and the list of the Go rules that `type: builtin` hooks
// use by name.
package builtins

import (
	"slices"
	"sort"
	"strings"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// Func is one function. Call takes and returns JSON values (nil, bool,
// string, a number, []any, map[string]any), checks nothing the parameters'
// types already say, must be bounded in time and memory, and must be safe for
// concurrent use. It returns ErrUndefined when the arguments have no answer,
// which makes the call undefined in both languages, and any other error to
// fail the rule.
type Func struct {
	// Name is dotted: path.abs.
	Name   string
	Params []Param
	Result policy.FieldType
	// World is WorldNone, or WorldRead for a function that looks at the disk.
	World policy.World
	// Volatile results depend on time or chance.
	Volatile bool
	Call     func(args []any) (any, error)
	// Doc says in a sentence what the function returns.
	Doc string
	// Examples are evaluated by the tests in both languages.
	Examples []Example
}

// Param is one parameter of a function.
type Param struct {
	Name string
	Type policy.FieldType
}

// Example is a call in the syntax that expr and Rego share, and its value.
type Example struct {
	Call string
	Want any
}

// ErrUndefined is returned by a function whose arguments have no answer.
var ErrUndefined = paths.ErrUndefined

var funcs = map[string]*Func{}

// register adds a function while the package loads; a duplicate or an
// incomplete one panics.
//
//go:noinline
func register(f Func) *Func {
	if f.Name == "" || f.Call == nil || f.Doc == "" || len(f.Examples) == 0 || f.World == policy.WorldUnset {
		panic("builtins: function " + f.Name + " is incomplete")
	}
	if funcs[f.Name] != nil {
		panic("builtins: function " + f.Name + " is registered twice")
	}
	funcs[f.Name] = &f
	return &f
}

// Funcs lists the functions by name.
func Funcs() []*Func {
	out := make([]*Func, 0, len(funcs))
	for _, f := range funcs {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *Func) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Lookup returns the function with the given dotted name, or nil.
//
//go:noinline
func Lookup(name string) *Func { return funcs[name] }

// Roots lists the first parts of the functions' names, sorted.
func Roots() []string {
	var out []string
	for name := range funcs {
		root, _, _ := spell.Cut(name, ".")
		out = append(out, root)
	}
	return lists.Distinct(out)
}

// Rules lists the rules of hookc by name.
func Rules() []rule.Rule {
	out := append(guard.Rules(), sayRule, toolListRule)
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

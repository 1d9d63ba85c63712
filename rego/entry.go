package rego

import (
	"cmp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeNoEntry = diag.Define("HK072", diag.Error, "Rego without an entry point")
var codeShape = diag.Define("HK073", diag.Error, "Rego entry point of the wrong shape")

// part is what an entry point contributes to a Result.
type part uint8

const (
	partDeny part = iota
	partAsk
	partAllow
	partSkip
	partStop
	// partUnallowed refuses what nothing else of the package decided.
	partUnallowed
	partPatch
	partContext
	partMessage
	partFeedback
	partResult
)

// contract lists the entry points in the order their results are reported
// (semantics.md §2.7, §3.3); a name that ends in `_` means a family.
var contract = []struct {
	name   string
	part   part
	powers policy.Powers
}{
	{"deny", partDeny, policy.MayDeny},
	{"violation", partDeny, policy.MayDeny},
	{"deny_", partDeny, policy.MayDeny},
	{"ask", partAsk, policy.MayAsk},
	{"allow", partAllow, policy.MayAllow},
	{"skip", partSkip, policy.MaySkip},
	{"stop", partStop, policy.MayStop},
	{DefaultAllow, partUnallowed, policy.MayDeny},
	{"patch", partPatch, 0},
	{"context", partContext, 0},
	{"message", partMessage, 0},
	{"warn", partMessage, 0},
	{"warn_", partMessage, 0},
	{"feedback", partFeedback, 0},
	{"result", partResult, policy.AllPowers},
}

// verdict reports whether the part is a verdict or a control.
func (p part) verdict() bool { return p <= partUnallowed }

// object reports whether the part is one object.
func (p part) object() bool { return p == partPatch || p == partResult }

// entry is one entry point a module defines.
type entry struct {
	name   string
	order  int
	part   part
	powers policy.Powers
	// rules are as parsed, in source order.
	rules []*ast.Rule
	// ref is the entry point's name inside, variable its value in the query.
	ref      ast.Ref
	variable ast.Var
	// sources are the rules as compiled, by which a value finds its line.
	sources []*source
	index   ast.RuleIndex
}

// findEntryPoints collects the entry points the hook's text defines and
// checks their shapes.
func (u *unit) findEntryPoints() {
	if u.own == nil {
		return
	}
	byName := map[string]*entry{}
	var names []string
	for _, r := range u.own.Rules {
		name := string(r.Head.Ref()[0].Value.(ast.Var))
		i := contractRow(name)
		if i < 0 {
			names = append(names, name)
			continue
		}
		e := byName[name]
		if e == nil {
			e = &entry{name: name, order: i, part: contract[i].part, powers: contract[i].powers, variable: ast.Var("hookc_" + name)}
			byName[name] = e
			u.entries = append(u.entries, e)
		}
		e.rules = append(e.rules, r)
	}
	if len(u.entries) == 0 {
		u.reportNoEntry(names)
		return
	}
	u.closeByDefault(byName["allow"])
	slices.SortFunc(u.entries, func(a, b *entry) int {
		return lists.First(cmp.Compare(a.order, b.order), cmp.Compare(a.name, b.name))
	})
	for _, e := range u.entries {
		u.checkShape(e)
		if e.part == partResult && len(u.entries) > 1 {
			u.reportHint(codeShape, e.rules[0].Location, "put the others' values into result, or drop result",
				"result stands alone, and the package also defines %s", otherThan(e, u.entries))
		}
	}
}

func otherThan(e *entry, all []*entry) string {
	var names []string
	for _, o := range all {
		if o != e {
			names = append(names, o.name)
		}
	}
	return strings.Join(names, ", ")
}

func contractRow(name string) int {
	for i, row := range contract {
		if name == row.name || strings.HasSuffix(row.name, "_") && len(name) > len(row.name) && strings.HasPrefix(name, row.name) {
			return i
		}
	}
	return -1
}

func (u *unit) reportNoEntry(names []string) {
	var wanted []string
	for _, row := range contract {
		if !strings.HasSuffix(row.name, "_") && row.name != DefaultAllow {
			wanted = append(wanted, row.name)
		}
	}
	hint := "define one of " + strings.Join(wanted, ", ")
	for _, name := range names {
		if meant := diag.Suggest(name, wanted); meant != "" {
			hint = name + ": did you mean \"" + meant + "\"?"
			break
		}
	}
	u.reportHint(codeNoEntry, u.own.Package.Location, hint, "%s defines no entry point", u.own.Package)
}

// checkShape reports rules that can never have a value of the entry point's
// shape. A value known only at run time is checked then.
func (u *unit) checkShape(e *entry) {
	var set, complete *ast.Rule
	for _, r := range e.rules {
		switch {
		case len(r.Head.Args) > 0:
			u.reportHint(codeShape, r.Location, "give the function another name", "%s is a function", e.name)
			return
		case r.Head.RuleKind() == ast.MultiValue:
			set = r
		default:
			complete = r
		}
		if len(r.Head.Ref()) > 1 && !e.part.object() {
			u.reportHint(codeShape, r.Location, "write `"+e.name+" contains reason if { ... }`",
				"%s is an object here, and must be a set, a string or a boolean", e.name)
			return
		}
		if want := u.badLiteral(e, r); want != "" {
			u.report(codeShape, r.Location, "%s must be %s", e.name, want)
			return
		}
	}
	switch {
	case set != nil && complete != nil:
		u.reportHint(codeShape, e.rules[1:][u.firstOther(e)].Location, "use `contains` in all of them or in none",
			"%s is both a set and a complete rule", e.name)
	case set != nil && e.part.object():
		u.report(codeShape, set.Location, "%s must be an object, and is a set", e.name)
	}
}

// firstOther is the index, after the first rule, of the first rule of another
// kind than it.
func (u *unit) firstOther(e *entry) int {
	kind := e.rules[0].Head.RuleKind()
	return slices.IndexFunc(e.rules[1:], func(r *ast.Rule) bool { return r.Head.RuleKind() != kind })
}

// badLiteral is what a rule's constant value should have been, "" when it is
// fine or not constant.
func (u *unit) badLiteral(e *entry, r *ast.Rule) string {
	for ; r != nil; r = r.Else {
		value := r.Head.Value
		if value == nil || len(r.Head.Ref()) > 1 {
			continue
		}
		switch value.Value.(type) {
		case ast.Null, ast.Number:
			return e.part.wants()
		case ast.Boolean:
			if !e.part.verdict() {
				return e.part.wants()
			}
		case ast.String, *ast.Array, ast.Set:
			if e.part.object() {
				return e.part.wants()
			}
		}
	}
	return ""
}

// wants says in words what a part's value must be.
func (p part) wants() string {
	switch {
	case p.verdict():
		return "a boolean, a string or a set of strings or {reason} objects"
	case p.object():
		return "an object"
	}
	return "a string or a set of strings"
}

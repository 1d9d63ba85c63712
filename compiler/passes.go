package compiler

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy/diag"
)

// pass is one step of the compiler.
type pass struct {
	Name string
	run  func(*unit)
	// required passes define the program; the others never change a Decision
	// and may be left out.
	required bool
	// graph is true for passes that set what nodes wait for.
	graph bool
	// bodies is true for passes that look into bodies: the others have nothing
	// to do where only the text of a body changed.
	bodies bool
	doc    string
}

// passes is the compiler, in order.
var passes = []pass{
	{Name: "recall", run: reuse, bodies: true,
		doc: "takes over what an earlier compilation made of hooks that have not changed"},
	{Name: "resolve", run: resolve, required: true,
		doc: "orders hooks by tier, priority and place; settles overrides and settings"},
	{Name: "validate", run: validate, required: true,
		doc: "checks what authors declared against the event"},
	{Name: "identify", run: identify, required: true, bodies: true,
		doc: "hashes what the policy means, before any of it is left out"},
	{Name: "narrow", run: narrow,
		doc: "keeps one event, for a process that serves one"},
	{Name: "prepare", run: prepare, required: true, bodies: true,
		doc: "compiles bodies and infers their effects"},
	{Name: "native", run: nativeCode, bodies: true,
		doc: "makes code of bodies that then do without their interpreter"},
	{Name: "filters", run: filters, required: true,
		doc: "compiles filters to atoms"},
	{Name: "effects", run: effects, required: true,
		doc: "lays declarations over inferred effects; defaults, postures, deadline"},
	{Name: "recheck", run: recheck, required: true,
		doc: "repeats a guard right after the last hook that may rewrite what it read"},
	{Name: "dead", run: dead,
		doc: "takes out hooks that provably never run"},
	{Name: "edges", run: edges, required: true, graph: true,
		doc: "joins what must wait: data (D1), gates (D2), order of world effects (D3)"},
	{Name: "speculate", run: speculate, graph: true,
		doc: "lets speculative hooks start before it is known that they are needed"},
	{Name: "hoist", run: hoist,
		doc: "moves rules to the earliest slot in which what they read is final"},
	{Name: "fuse", run: fuse, bodies: true,
		doc: "makes one evaluation of the rules of a slot that see the same version of the event"},
	{Name: "reduce", run: reduce,
		doc: "drops data edges that other data edges imply, for display"},
	{Name: "link", run: link, required: true,
		doc: "links plans into the sub-pipelines of the lifecycle"},
	{Name: "index", run: index, required: true,
		doc: "finds which hooks can match a tool"},
	{Name: "project", run: projected,
		doc: "finds which parts of an event are looked at, so that nothing else is decoded"},
	{Name: "estimate", run: estimate,
		doc: "sums costs: serial, critical path, first denial"},
	{Name: "posture", run: posture,
		doc: "lists the hooks through which a failure lets an action pass"},
	{Name: "seal", run: seal, required: true, bodies: true,
		doc: "gathers, hashes and indexes the program"},
	{Name: "lint", run: lintPass, bodies: true,
		doc: "reports what an author would want to know"},
	{Name: "verify", run: verify, graph: true, bodies: true,
		doc: "recomputes what must wait naively, and compares the plan with the serial definition"},
}

// passOrder holds which pass must come before which, and why.
var passOrder = []struct{ before, after, why string }{
	{"recall", "resolve", "what is taken over need not be made"},
	{"resolve", "validate", "a hook that is overridden or disabled need not be right"},
	{"validate", "effects", "declarations are parsed where they are known to be right"},
	{"resolve", "identify", "overridden hooks mean nothing, and order means something"},
	{"identify", "narrow", "one event's process reports the hash of the whole policy"},
	{"narrow", "prepare", "preparing is what narrowing saves"},
	{"prepare", "effects", "only a prepared body knows what it reads"},
	{"prepare", "native", "code is made of what was compiled"},
	{"native", "recheck", "a copy has the body of its original"},
	{"native", "fuse", "what is code is not interpreted together"},
	{"filters", "effects", "a hook reads what its filter reads"},
	{"effects", "recheck", "only effects say which hook may rewrite what a guard read"},
	{"recheck", "dead", "a copy is part of the program's meaning, and what dead takes out it takes out with its copies"},
	{"dead", "edges", "edges join neighbours only: a hook taken out later would take with it the order it carried on"},
	{"edges", "speculate", "a gate must be there to be lifted"},
	{"speculate", "hoist", "a rule behind a gate cannot move before it"},
	{"hoist", "fuse", "only what is in one slot is evaluated together"},
	{"fuse", "seal", "a sealed program is complete"},
	{"edges", "reduce", "there must be edges to drop"},
	{"hoist", "estimate", "the path to a result goes through the slots"},
	{"index", "seal", "a sealed program answers which hooks match"},
	{"index", "project", "what a plan reads and whether it is volatile must be known"},
	{"link", "seal", "a sealed program holds its pipelines"},
	{"seal", "lint", "a finding may concern the whole program"},
	{"estimate", "lint", "latency hints compare estimates"},
	{"seal", "verify", "verify looks at the program as it will run"},
}

func init() {
	if err := checkOrder(); err != nil {
		panic("compiler: " + err.Error())
	}
}

func checkOrder() error {
	at := func(name string) int {
		return slices.IndexFunc(passes, func(p pass) bool { return p.Name == name })
	}
	for _, o := range passOrder {
		switch before, after := at(o.before), at(o.after); {
		case before < 0 || after < 0:
			return fault.Errorf("the order of passes %s and %s is given, but one does not exist", o.before, o.after)
		case before > after:
			return fault.Errorf("pass %s must come before %s: %s", o.before, o.after, o.why)
		}
	}
	return nil
}

// PassInfo describes a pass.
type PassInfo struct {
	Name string
	// Doc says in a line what the pass does.
	Doc string
	// Required passes cannot be left out.
	Required bool
}

// Passes lists the passes in the order they run.
//
//go:noinline
func Passes() []PassInfo {
	out := make([]PassInfo, len(passes))
	for i, p := range passes {
		out[i] = PassInfo{p.Name, p.doc, p.required}
	}
	return out
}

// CheckWithout reports the first of the named passes that does not exist or
// cannot be left out.
func CheckWithout(names []string) error {
	var optional []string
	for _, p := range passes {
		if !p.required {
			optional = append(optional, p.Name)
		}
	}
	for _, name := range names {
		switch i := slices.IndexFunc(passes, func(p pass) bool { return p.Name == name }); {
		case i < 0:
			return errors.New("no pass is called " + name + ": " +
				diag.DidYouMean(name, optional, fmt.Sprintf("those that may be left out are %q", optional)))
		case passes[i].required:
			return fault.Errorf("pass %s is required: without it there is no program", name)
		}
	}
	return nil
}

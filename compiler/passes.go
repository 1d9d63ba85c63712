package compiler

import (
	"errors"
	"fmt"
	"slices"

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
	{"recall", recall, false, false, true, "takes over what an earlier compilation made of hooks that have not changed"},
	{"resolve", resolve, true, false, false, "orders hooks by tier, priority and place; settles overrides and settings"},
	{"validate", validate, true, false, false, "checks what authors declared against the event"},
	{"identify", identify, true, false, true, "hashes what the policy means, before any of it is left out"},
	{"narrow", narrow, false, false, false, "keeps one event, for a process that serves one"},
	{"prepare", prepare, true, false, true, "compiles bodies and infers their effects"},
	{"native", nativeCode, false, false, true, "makes code of bodies that then do without their interpreter"},
	{"filters", filters, true, false, false, "compiles filters to atoms"},
	{"effects", effects, true, false, false, "lays declarations over inferred effects; defaults, postures, deadline"},
	{"recheck", recheck, true, false, false, "repeats a guard right after the last hook that may rewrite what it read"},
	{"dead", dead, false, false, false, "takes out hooks that provably never run"},
	{"edges", edges, true, true, false, "joins what must wait: data (D1), gates (D2), order of world effects (D3)"},
	{"speculate", speculate, false, true, false, "lets speculative hooks start before it is known that they are needed"},
	{"hoist", hoist, false, false, false, "moves rules to the earliest slot in which what they read is final"},
	{"fuse", fuse, false, false, true, "makes one evaluation of the rules of a slot that see the same version of the event"},
	{"reduce", reduce, false, false, false, "drops data edges that other data edges imply, for display"},
	{"link", link, true, false, false, "links plans into the sub-pipelines of the lifecycle"},
	{"index", index, true, false, false, "finds which hooks can match a tool"},
	{"project", projected, false, false, false, "finds which parts of an event are looked at, so that nothing else is decoded"},
	{"estimate", estimate, false, false, false, "sums costs: serial, critical path, first denial"},
	{"posture", posture, false, false, false, "lists the hooks through which a failure lets an action pass"},
	{"seal", seal, true, false, true, "gathers, hashes and indexes the program"},
	{"lint", lintPass, false, false, true, "reports what an author would want to know"},
	{"verify", verify, false, true, true, "recomputes what must wait naively, and compares the plan with the serial definition"},
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
			return fmt.Errorf("the order of passes %s and %s is given, but one does not exist", o.before, o.after)
		case before > after:
			return fmt.Errorf("pass %s must come before %s: %s", o.before, o.after, o.why)
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
			return fmt.Errorf("pass %s is required: without it there is no program", name)
		}
	}
	return nil
}

package rego

import (
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/native"
)

// natively is what was made of a module, at most once: OPA's planner writes into
// its compiler.
type natively struct {
	once   sync.Once
	made   *Native
	engine string

	rest    sync.Once
	ask     ast.Body
	entries []*entry
}

// Native is the module as native code, nil when nothing of it can be; engine
// says how it is evaluated, and why, either way. It is made at the first call,
// before which nobody may evaluate the module.
func (m *Module) Native() (n *Native, engine string) {
	m.native.once.Do(func() { m.native.made, m.native.engine = m.plan() })
	return m.native.made, m.native.engine
}

// plan makes native code of the module.
func (m *Module) plan() (*Native, string) {
	p := planModule(m)
	for i, e := range m.entries {
		if p.entries[i].why == "" && e.part == partResult && m.pieces(e) {
			p.entries[i].why = "result is made of parts"
		}
	}
	if p.code == nil || !lists.Some(p.entries, func(e *plannedEntry) bool { return e.why == "" }) {
		return nil, p.engine(m.EntryPoints())
	}
	n := &Native{name: m.name, budget: m.budget, code: p.code, input: m.input, timely: len(p.bridged) > 0,
		engine: p.engine(m.EntryPoints()), module: func() (*Module, error) { return m, nil }}
	for i, e := range m.entries {
		n.evidence.forms |= p.entries[i].forms
		own := nativeEntry{name: e.name, part: e.part, fn: -1}
		if planned := &p.entries[i]; planned.why == "" {
			own.fn = planned.fn
			own.many = e.rules[0].Head.RuleKind() == ast.MultiValue && !m.pieces(e)
			own.at = e.places(p.program, own.fn)
		}
		n.rest = n.rest || own.fn < 0
		n.entries = append(n.entries, own)
	}
	n.slots, n.alike = slotsOf(p.program.Paths, &n.input)
	return n, n.engine
}

// pieces reports whether an entry point is an object that several rules give
// parts of.
func (m *Module) pieces(e *entry) bool {
	return slices.ContainsFunc(e.rules, func(r *ast.Rule) bool { return len(r.Head.Ref()) > 1 })
}

// places are where the rules are written that a function's blocks came from.
func (e *entry) places(p *native.Program, fn int) []diag.Span {
	written := map[spot]diag.Span{}
	for _, s := range e.sources {
		at := s.rule
		for i := range s.branches {
			written[spotOf(at.Location)] = s.branches[i].at
			at = at.Else
		}
	}
	blocks := p.Funcs[fn].Blocks
	out := make([]diag.Span, len(blocks))
	for i := range blocks {
		if n := blocks[i].Place; n >= 0 {
			at := p.Places[n]
			out[i] = written[spot{p.Files[at.File], int(at.Row), int(at.Col)}]
		}
	}
	return out
}

// others is the query of the entry points that are not native, and these.
func (m *Module) others(all []nativeEntry) (ast.Body, []*entry) {
	m.native.rest.Do(func() {
		for i, e := range m.entries {
			if all[i].fn < 0 {
				m.native.entries = append(m.native.entries, e)
			}
		}
		m.native.ask = compileQuery(m.compiler, m.native.entries)
	})
	return m.native.ask, m.native.entries
}

// engine says how the entry points are evaluated: in one word when all are
// alike, else each by its name.
func (p *plan) engine(names []string) string {
	ways := make([]string, len(p.entries))
	for i := range p.entries {
		ways[i] = p.way(&p.entries[i])
	}
	if !slices.ContainsFunc(ways, func(w string) bool { return w != ways[0] }) {
		return "rego(" + ways[0] + ")"
	}
	for i := range ways {
		ways[i] = names[i] + ": " + ways[i]
	}
	return "rego(" + strings.Join(ways, ", ") + ")"
}

// way is how an entry point is evaluated.
func (p *plan) way(e *plannedEntry) string {
	switch {
	case p.code == nil && p.why != "":
		return topdownFor(p.why)
	case e.why != "":
		return topdownFor(e.why)
	}
	r := reach{p: p.program, seen: map[int32]bool{}, kernel: true}
	r.function(int32(e.fn))
	way := "closures"
	if r.kernel {
		way = "kernel"
	}
	var through []string
	for _, name := range p.bridged {
		if r.calls[name] && name != baseKey {
			through = append(through, name)
		}
	}
	if through == nil {
		return way
	}
	lists.Sort(through)
	return way + ", " + strings.Join(through, " and ") + " by the resident engine"
}

// topdownFor says that topdown evaluates and why, which may be its own doing.
func topdownFor(why string) string { return "topdown: " + strings.TrimPrefix(why, "topdown: ") }

// reach finds what an entry point comes to.
type reach struct {
	p      *native.Program
	seen   map[int32]bool
	calls  map[string]bool
	kernel bool
}

func (r *reach) function(fn int32) {
	if r.seen[fn] {
		return
	}
	r.seen[fn] = true
	f := &r.p.Funcs[fn]
	r.kernel = r.kernel && f.Params == 2
	native.Walk(f.Blocks, func(s *native.Stmt) {
		switch s.Op {
		case native.OpCall:
			r.function(s.Index)
		case native.OpCallBuiltin:
			if r.calls == nil {
				r.calls = map[string]bool{}
			}
			r.calls[r.p.Builtins[s.Index]] = true
		case native.OpCallDynamic:
			r.everything()
		}
		r.kernel = r.kernel && guardrail[s.Op]
	})
}

// everything is what a call may come to whose function is found by name.
func (r *reach) everything() {
	for i := range r.p.Funcs {
		r.function(int32(i))
	}
}

// guardrail are the statements that tests of an event consist of: nothing in
// them goes through a collection, or changes input.
var guardrail = map[native.Op]bool{
	native.OpNop: true, native.OpReturn: true, native.OpCall: true, native.OpCallBuiltin: true, native.OpBlock: true,
	native.OpBreak: true, native.OpDot: true, native.OpNot: true, native.OpAssign: true, native.OpAssignOnce: true,
	native.OpReset: true, native.OpMakeSet: true, native.OpMakeArray: true, native.OpArrayAppend: true,
	native.OpMakeObject: true, native.OpObjectInsert: true, native.OpEqual: true, native.OpNotEqual: true,
	native.OpIsDefined: true, native.OpIsUndefined: true, native.OpSetAdd: true, native.OpInput: true,
}

package rego

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/native"
)

// Thin is what evaluates native code without this package (cmd/hookgate): the
// program, its entry points in the order of the contract, and what its paths mean.
type Thin struct {
	// Program is a native.Program, without the places of rules.
	Program []byte
	Entries []ThinEntry
	Paths   []ThinPath
}

// ThinEntry is an entry point: what it contributes, by the name of the contract
// (deny, ask, allow, skip, stop, patch, context, message, feedback, result), its
// function, and whether each value of it is one member of a set.
type ThinEntry struct {
	Part string
	Func int
	Many bool
}

// ThinPath is what a path of the program is: keys below a field, unless it is
// absent in every event.
type ThinPath struct {
	Field  policy.Field
	Keys   []string
	Absent bool
}

// Thin is the module for an evaluator that has nothing but native's own builtins;
// nil with why it needs more.
func (n *Native) Thin() (t *Thin, why string) {
	if !n.Compared() {
		return nil, "its native code was not compared with OPA"
	}
	if n.rest {
		return nil, "an entry point is topdown's"
	}
	p := n.code.Program()
	for _, name := range p.Builtins {
		if !native.Has(name) {
			return nil, "uses " + name
		}
	}
	t = &Thin{}
	for i := range n.slots {
		s := &n.slots[i]
		if s.kind == slotWhole {
			return nil, "reads the whole input"
		}
		t.Paths = append(t.Paths, ThinPath{Field: s.field, Keys: s.keys, Absent: s.kind == slotAbsent})
	}
	for i := range n.entries {
		e := &n.entries[i]
		t.Entries = append(t.Entries, ThinEntry{Part: e.part.name(), Func: e.fn, Many: e.many})
	}
	t.Program = placeless(p).Append(nil)
	return t, ""
}

// name is the first name of the contract for a part.
func (p part) name() string {
	for i := range contract {
		if contract[i].part == p {
			return contract[i].name
		}
	}
	panic("rego: a part without a name")
}

// placeless is a program that does not know where its rules are written.
func placeless(p *native.Program) *native.Program {
	out := *p
	out.Places, out.Files, out.Funcs = nil, nil, lists.Copy(p.Funcs)
	for i := range out.Funcs {
		out.Funcs[i].Blocks = placelessBlocks(out.Funcs[i].Blocks)
	}
	return &out
}

func placelessBlocks(blocks []native.Block) []native.Block {
	blocks = lists.Copy(blocks)
	for i := range blocks {
		blocks[i].Place, blocks[i].Stmts = -1, lists.Copy(blocks[i].Stmts)
		for j := range blocks[i].Stmts {
			s := &blocks[i].Stmts[j]
			s.Place, s.Blocks = -1, placelessBlocks(s.Blocks)
		}
	}
	return blocks
}

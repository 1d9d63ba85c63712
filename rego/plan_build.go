package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"

	"github.com/hookc/hookc/rego/native"
)

// assembly makes one native.Program of the functions that its roots reach, in
// the order in which they are reached.
type assembly struct {
	prog *native.Program
	// data are the base documents, an object.
	data     ast.Value
	replaced [][]string
	list     *listed
	heads    map[spot]*ast.Location

	// values are the constants that translations come upon, most of which are
	// only steps to others.
	values   []ast.Value
	consts   map[ast.Value]int32
	paths    map[string]int32
	builtins map[string]int32
	files    map[string]int32
	places   map[native.Place]int32
	funcs    map[funcKey]int32
	todo     []work

	// why says of each function why native must not run it, "" for nothing;
	// calls are the functions it calls.
	why   []string
	forms []forms
	calls [][]int32
}

type funcKey struct{ suffix, name string }

// spot is a place as OPA writes it.
type spot struct {
	file     string
	row, col int
}

func spotOf(l *ast.Location) spot { return spot{l.File, l.Row, l.Col} }

// work is a function to be translated: one of the plan's or, when f is nil,
// the query itself.
type work struct {
	at int32
	p  *planned
	f  *ir.Func
}

func newAssembly(c *ast.Compiler, list *listed, data ast.Value) *assembly {
	b := &assembly{
		prog: &native.Program{}, data: data, list: list, heads: headsOf(c),
		consts: map[ast.Value]int32{}, paths: map[string]int32{}, builtins: map[string]int32{},
		files: map[string]int32{}, places: map[native.Place]int32{}, funcs: map[funcKey]int32{},
	}
	return b
}

// headsOf maps where a rule's head is written to where the rule is.
func headsOf(c *ast.Compiler) map[spot]*ast.Location {
	out := map[spot]*ast.Location{}
	for _, m := range c.Modules {
		for _, r := range m.Rules {
			for ; r != nil; r = r.Else {
				if at := r.Head.Location; at != nil && r.Location != nil && out[spotOf(at)] == nil {
					out[spotOf(at)] = r.Location
				}
			}
		}
	}
	return out
}

// take adds a plan: what it replaces of data is constant nowhere.
func (b *assembly) take(p *planned) { b.replaced = append(b.replaced, p.replacedData()...) }

// function reaches a function of a plan and returns its index.
func (b *assembly) function(p *planned, f *ir.Func) int32 {
	key := funcKey{p.suffix, f.Name}
	if strings.HasPrefix(f.Name, firstGeneration+".") {
		key.suffix = ""
	}
	if at, ok := b.funcs[key]; ok {
		return at
	}
	at := b.reserve(work{p: p, f: f})
	b.funcs[key] = at
	return at
}

// query adds the query of a plan as a function of its own.
func (b *assembly) query(p *planned) int32 { return b.reserve(work{p: p}) }

func (b *assembly) reserve(w work) int32 {
	w.at = int32(len(b.prog.Funcs))
	b.prog.Funcs = append(b.prog.Funcs, native.Func{})
	b.why, b.forms, b.calls = append(b.why, ""), append(b.forms, 0), append(b.calls, nil)
	b.todo = append(b.todo, w)
	return w.at
}

// finish translates all that was reached.
func (b *assembly) finish() {
	for len(b.todo) > 0 {
		w := b.todo[0]
		b.todo = b.todo[1:]
		t := newTranslation(b, w)
		b.prog.Funcs[w.at] = t.translate()
		b.why[w.at], b.forms[w.at], b.calls[w.at] = t.why, t.forms, t.calls
	}
	b.settle()
}

// settle gives the program its data and its whole input, where anything reads
// them.
func (b *assembly) settle() {
	var u usage
	for i := range b.prog.Funcs {
		u.look(b.prog.Funcs[i].Blocks)
	}
	if u.input {
		b.path(nil)
	}
	if u.data {
		b.prog.Data = toNative(b.data)
	}
	b.keepConstants()
	b.keepPaths()
}

// keepPaths removes the slots that were only steps to others.
func (b *assembly) keepPaths() {
	to := make([]int32, len(b.prog.Paths))
	var kept [][]string
	keep := func(i int32) int32 {
		if to[i] == 0 {
			kept = append(kept, b.prog.Paths[i])
			to[i] = int32(len(kept))
		}
		return to[i] - 1
	}
	for i := range b.prog.Funcs {
		native.Walk(b.prog.Funcs[i].Blocks, func(s *native.Stmt) {
			if s.Op == native.OpInput {
				s.Index = keep(s.Index)
			}
		})
	}
	for i, path := range b.prog.Paths {
		if path == nil {
			keep(int32(i))
		}
	}
	b.prog.Paths = kept
}

// keepConstants gives the program the constants that it uses.
func (b *assembly) keepConstants() {
	to := make([]int32, len(b.values))
	for i := range b.prog.Funcs {
		native.Walk(b.prog.Funcs[i].Blocks, func(s *native.Stmt) {
			for _, o := range s.Operands() {
				if !o.Const {
					continue
				}
				if to[o.N] == 0 {
					b.prog.Consts = append(b.prog.Consts, toNative(b.values[o.N]))
					to[o.N] = int32(len(b.prog.Consts))
				}
				o.N = to[o.N] - 1
			}
		})
	}
}

// reason is why a function must not run natively: what it or the first
// function on the way that it calls has against it. forms are those of all.
func (b *assembly) reason(fn int32) (why string, all forms) {
	seen := make([]bool, len(b.why))
	todo := []int32{fn}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		if b.why[at] != "" {
			return b.why[at], 0
		}
		all |= b.forms[at]
		todo = append(todo, b.calls[at]...)
	}
	return "", all
}

// constant is the operand of a ground value. Composites are told apart by
// identity: base documents may be large.
//
//go:noinline
func (b *assembly) constant(v ast.Value) native.Operand {
	at, ok := b.consts[v]
	if !ok {
		at = int32(len(b.values))
		b.consts[v] = at
		b.values = append(b.values, v)
	}
	return native.Operand{Const: true, N: at}
}

// intern is the index of an element of a list, which is added when its key is
// new.
func intern[T any](known map[string]int32, list *[]T, key string, value T) int32 {
	at, ok := known[key]
	if !ok {
		at = int32(len(*list))
		known[key] = at
		*list = append(*list, value)
	}
	return at
}

// path is the slot of a path of the input.
func (b *assembly) path(path []string) int32 {
	key := fmt.Sprintf("%d %q", len(path), path)
	return intern(b.paths, &b.prog.Paths, key, path)
}

func (b *assembly) builtin(name string) int32 {
	return intern(b.builtins, &b.prog.Builtins, name, name)
}

// place is where a rule or statement is written; heads means the rule
// whose head it is. -1 is nowhere.
func (b *assembly) place(p *planned, l *ir.Location, heads bool) int32 {
	if l.Row == 0 {
		return -1
	}
	at := spot{p.Static.Files[l.File].Value, l.Row, l.Col}
	if whole := b.heads[at]; heads && whole != nil {
		at = spotOf(whole)
	}
	file := intern(b.files, &b.prog.Files, at.file, at.file)
	key := native.Place{File: file, Row: int32(at.row), Col: int32(at.col)}
	i, ok := b.places[key]
	if !ok {
		i = int32(len(b.prog.Places))
		b.places[key] = i
		b.prog.Places = append(b.prog.Places, key)
	}
	return i
}

// base is the value of the base document at a path below data, which is the
// same in every evaluation; known is false when it is not.
func (b *assembly) base(path []string) (v ast.Value, known bool) {
	if slices.ContainsFunc(b.replaced, func(r []string) bool { return overlap(r, path) }) {
		return nil, false
	}
	v = b.data
	for _, key := range path {
		if v = lookUp(v, ast.String(key)); v == nil {
			return nil, true
		}
	}
	return v, true
}

// lookUp is the element of a constant under a key, nil when there is none.
func lookUp(v, key ast.Value) ast.Value {
	var t *ast.Term
	switch v := v.(type) {
	case ast.Object:
		t = v.Get(ast.NewTerm(key))
	case *ast.Array:
		t = v.Get(ast.NewTerm(key))
	case ast.Set:
		if v.Contains(ast.NewTerm(key)) {
			return key
		}
	}
	if t == nil {
		return nil
	}
	return t.Value
}

package rego

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/native"
)

// codeVersion is the version of what Append writes; its first byte.
const codeVersion = 4

// maxCount bounds lists in stored code.
const maxCount = 1 << 16

// Append writes the code of a module, for Stored.
func (n *Native) Append(to []byte) []byte {
	b := binary.Writer{B: append(to, codeVersion)}
	n.evidence.append(&b)
	b.Text(n.engine)
	b.Bool(n.input.whole)
	b.Uint(uint64(len(n.input.fields)))
	for i := range n.input.fields {
		n.input.fields[i].append(&b, n.input.fields[i].field.String())
	}
	b.Uint(uint64(len(n.entries)))
	for i := range n.entries {
		e := &n.entries[i]
		b.Text(e.name)
		b.Uint(uint64(e.part))
		b.Int(int64(e.fn))
		b.Bool(e.many)
		b.Uint(uint64(len(e.at)))
		for _, at := range e.at {
			b.Bool(at.Source != nil)
			b.Uint(uint64(at.Start))
			b.Uint(uint64(at.End))
		}
	}
	return n.code.Program().Append(b.B)
}

func (p *projected) append(b *binary.Writer, name string) {
	b.Text(name)
	b.Bool(p.parts == nil)
	b.Uint(uint64(len(p.parts)))
	for i := range p.parts {
		p.parts[i].append(b, p.parts[i].name)
	}
}

// Stored is a module of which the code was kept: nothing is parsed or compiled
// before native evaluation leaves an event to topdown. The code is read when the
// module first runs.
type Stored struct {
	once   sync.Once
	hook   *policy.Hook
	code   []byte
	c      *Compiler
	native *Native
	err    error
	// counted is what CountLeft was given.
	counted atomic.Pointer[func()]
}

// Load takes the code that Append wrote of a hook's module; nil when it is of
// another version, or was not compared with the engines that are here.
func (c *Compiler) Load(h *policy.Hook, code []byte) *Stored {
	if len(code) == 0 || code[0] != codeVersion {
		return nil
	}
	if e := readEvidence(binary.NewReader(code[1:])); !e.valid() {
		return nil
	}
	return &Stored{hook: h, code: code[1:], c: c}
}

// Made is the module's code, read now if it was not.
func (s *Stored) Made() policy.Runner {
	s.once.Do(s.read)
	if s.native == nil {
		return policy.RunnerFunc(s.Run)
	}
	return s.native
}

// CountLeft is Native.CountLeft. It is called before the module first runs.
func (s *Stored) CountLeft(count func()) { s.counted.Store(&count) }

// Run is Tell.
func (s *Stored) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	r, err := s.Tell(ctx, in, attempt)
	if err != nil || r == nil {
		return policy.Result{}, err
	}
	return *r, nil
}

// Tell is Native.Tell; code that is damaged is a failure of the hook.
func (s *Stored) Tell(ctx context.Context, in *policy.Context, attempt int) (*policy.Result, error) {
	s.once.Do(s.read)
	if s.native == nil {
		return nil, policy.Failf(policy.ErrEval, "%w", s.err)
	}
	return s.native.Tell(ctx, in, attempt)
}

var errDamaged = errors.New("the code of this rule is damaged: compile the policy again")

func (s *Stored) read() {
	s.err = errDamaged
	r := binary.NewReader(s.code)
	n := &Native{name: s.hook.Name, budget: s.c.budget(s.hook), module: sync.OnceValues(s.compile)}
	n.evidence = readEvidence(r)
	n.engine = r.Text()
	n.input.whole = r.Bool()
	for range r.Count(maxCount) {
		n.input.fields = append(n.input.fields, readProjected(r, true, 0))
	}
	for range r.Count(maxCount) {
		n.entries = append(n.entries, s.entry(r))
	}
	if r.Bad() {
		return
	}
	p, err := native.Decode(r.Rest())
	if err == nil {
		n.code, err = native.Link(p, func(name string) native.Builtin {
			n.timely = n.timely || !native.Has(name)
			return bridge(name)
		})
	}
	if err != nil {
		s.err = err
		return
	}
	for i := range n.entries {
		e := &n.entries[i]
		if e.fn >= len(p.Funcs) || e.fn >= 0 && p.Funcs[e.fn].Params != 2 || e.part > partResult {
			return
		}
		n.rest = n.rest || e.fn < 0
	}
	n.slots, n.alike = slotsOf(p.Paths, &n.input)
	if s.c.Eyes != nil {
		n.Watch(s.c.Eyes, s.hook)
	}
	if count := s.counted.Load(); count != nil {
		n.CountLeft(*count)
	}
	s.native, s.err, s.code = n, nil, nil
}

func (s *Stored) entry(r *binary.Reader) nativeEntry {
	e := nativeEntry{name: r.Text(), part: part(r.Uint()), fn: int(r.Int()), many: r.Bool()}
	source := s.hook.Body.Source.Span.Source
	for range r.Count(maxCount) {
		at := diag.Span{}
		known, start, end := r.Bool(), int(r.Uint()), int(r.Uint())
		if known {
			at = diag.Span{Source: source, Start: start, End: end}
		}
		e.at = append(e.at, at)
	}
	return e
}

// maxKeys bounds how deep a projection goes.
const maxKeys = 64

func readProjected(r *binary.Reader, field bool, depth int) projected {
	name := r.Text()
	p := projected{name: name, key: ast.StringTerm(name)}
	if field {
		f, known := policy.ParseField(name)
		if !known {
			r.Take(1 << 30) // a field nobody knows: the reader is bad from here on
		}
		p.field, p.name = f, ""
	}
	whole := r.Bool()
	n := r.Count(maxCount)
	if depth > maxKeys {
		r.Take(1 << 30)
		return p
	}
	if !whole {
		p.parts = []projected{}
	}
	for range n {
		p.parts = append(p.parts, readProjected(r, false, depth+1))
	}
	return p
}

// compile makes the module itself.
func (s *Stored) compile() (*Module, error) {
	m, found := s.c.Compile(s.hook)
	if m == nil {
		return nil, policy.Failf(policy.ErrEval, "the Rego of a compiled policy does not compile any more: %w", found.Err())
	}
	return m, nil
}

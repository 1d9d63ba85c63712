// Package rules is how hookgate decides Rego without hookc: the native code of an
// event's rules as the compiled policy holds it, what of the event each reads, and
// the answers that agents get when one of them has something to say, made by
// hookc when the policy is compiled (internal/gate/build, docs/reference/cli.md "hookgate").
// Whatever is out of the ordinary is left to hookc.
package rules

import (
	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/rego/native"
)

// The sections of a compiled policy, an event's name follows: its rules, and the
// answers to what they say.
const (
	Section = "rules/"
	Answers = "answers/"
)

// version begins both.
const version = 2

// Parts of a rule's answer, as the names of entry points say.
const (
	Deny = iota
	Ask
	Allow
	Context
	Message
	Feedback
	// Other is left to hookc when it says anything.
	Other
	// Unallowed denies with its texts where no verdict was given.
	Unallowed
	numParts
)

// Outcomes of a rule that speaks: what the first six parts say, with a reason or
// texts, and a verdict that gives none.
const (
	BareDeny = Other + iota
	BareAsk
	BareAllow
	// NumOutcomes is how many there are.
	NumOutcomes
)

// Where a slot is found.
const (
	// SlotField is a field of the event and keys below it.
	SlotField = iota
	// SlotAbsent is nowhere, SlotText always a text.
	SlotAbsent
	SlotText
	// SlotKind is the kind of the tool, SlotPart the first text under one of some
	// keys of tool_input, for tools of some kinds.
	SlotKind
	SlotPart
)

// Source is the rules of an event.
type Source struct {
	// Tools are tools by name, sorted, and their kinds; a name that begins with one
	// of MCP and is not among them is of kind mcp, any other of kind other.
	Tools [][2]string
	MCP   []string
	Rules []Rule
}

// Kinds of tools that no list names.
const (
	kindMCP   = "mcp"
	kindOther = "other"
)

// Rule is one hook. A Rule without a Program has none that the gate evaluates.
type Rule struct {
	Name string
	// Item is the step of the chain that the hook belongs to; Says are the outcomes
	// that the answers cover, Halts those that end the chain, a bit each.
	Item        int
	Says, Halts uint
	Entries     []Entry
	Slots       []Slot
	Program     []byte
}

// Entry is an entry point: its part, its function in the program, and whether
// each value is one member of a set.
type Entry struct {
	Part, Func int
	Many       bool
}

// Slot is one of the program's paths. Field is a policy.Field; Text is for
// SlotText; Keys are those below the field, of SlotPart the keys in tool_input
// in their order; Kinds are for SlotPart.
type Slot struct {
	Kind, Field int
	Text        string
	Keys, Kinds []string
}

// Bytes is the section of an event.
func Bytes(s *Source) []byte {
	b := binary.Writer{B: []byte{version}}
	b.Uint(uint64(len(s.Tools)))
	for _, t := range s.Tools {
		b.Text(t[0])
		b.Text(t[1])
	}
	putTexts(&b, s.MCP)
	b.Uint(uint64(len(s.Rules)))
	for i := range s.Rules {
		b.Text(string(s.Rules[i].bytes()))
	}
	return b.B
}

func (r *Rule) bytes() []byte {
	if r.Program == nil {
		return nil
	}
	var b binary.Writer
	b.Text(r.Name)
	b.Uint(uint64(r.Item))
	b.Uint(uint64(r.Says))
	b.Uint(uint64(r.Halts))
	b.Uint(uint64(len(r.Entries)))
	for _, e := range r.Entries {
		b.Uint(uint64(e.Part))
		b.Uint(uint64(e.Func))
		b.Bool(e.Many)
	}
	b.Uint(uint64(len(r.Slots)))
	for i := range r.Slots {
		s := &r.Slots[i]
		b.Uint(uint64(s.Kind))
		b.Uint(uint64(s.Field))
		b.Text(s.Text)
		putTexts(&b, s.Keys)
		putTexts(&b, s.Kinds)
	}
	return append(b.B, r.Program...)
}

//go:noinline
func putTexts(b *binary.Writer, list []string) {
	b.Uint(uint64(len(list)))
	for _, s := range list {
		b.Text(s)
	}
}

// maxCount bounds lists.
const maxCount = 1 << 16

// number reads an int; one that is too large is none that anything has.
func number(r *binary.Reader) int { return int(min(r.Uint(), 1<<30)) }

func texts(r *binary.Reader) []string {
	out := make([]string, r.Count(maxCount))
	for i := range out {
		out[i] = r.Text()
	}
	return out
}

// Book is the rules of an event being read.
type Book struct {
	tools [][2][]byte
	mcp   []string
	rules [][]byte
}

// Open reads a section; false when it is none.
func Open(section []byte) (*Book, bool) {
	r := binary.NewReader(section)
	if v := r.Take(1); v == nil || v[0] != version {
		return nil, false
	}
	b := &Book{tools: make([][2][]byte, r.Count(maxCount))}
	for i := range b.tools {
		b.tools[i] = [2][]byte{r.Bytes(), r.Bytes()}
	}
	b.mcp = texts(r)
	b.rules = make([][]byte, r.Count(maxCount))
	for i := range b.rules {
		b.rules[i] = r.Bytes()
	}
	return b, !r.Bad() && r.Done()
}

// rule is a rule that is ready.
type rule struct {
	Rule
	code *native.Code
}

// rule reads the rule of a number, from 1; false when that is none.
func (b *Book) rule(at int) (*rule, bool) {
	if at < 1 || at > len(b.rules) || len(b.rules[at-1]) == 0 {
		return nil, false
	}
	r := binary.NewReader(b.rules[at-1])
	out := &rule{Rule: Rule{Name: r.Text(), Item: number(r), Says: uint(r.Uint()), Halts: uint(r.Uint())}}
	out.Entries = make([]Entry, r.Count(maxCount))
	for i := range out.Entries {
		out.Entries[i] = Entry{Part: number(r), Func: number(r), Many: r.Bool()}
	}
	out.Slots = make([]Slot, r.Count(maxCount))
	for i := range out.Slots {
		out.Slots[i] = Slot{Kind: number(r), Field: number(r), Text: r.Text(), Keys: texts(r), Kinds: texts(r)}
	}
	if r.Bad() {
		return nil, false
	}
	p, err := native.Decode(r.Rest())
	if err != nil || len(p.Paths) != len(out.Slots) {
		return nil, false
	}
	for _, e := range out.Entries {
		if e.Part >= numParts || e.Func >= len(p.Funcs) || p.Funcs[e.Func].Params != 2 {
			return nil, false
		}
	}
	out.code, err = native.Link(p, nil)
	return out, err == nil
}

// Package solve decides conditions over events: what rules of every language
// test becomes a [Formula] over the fields of an event, of which [World.Search]
// finds events that fulfil it, or proves that there are none. All that a formula
// leaves out makes it hold more often, never less: a proof is a proof, and an
// event is only a candidate until the rule was run on it.
package solve

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// Term is a value that a rule computes of an event. It is immutable.
type Term struct {
	op   termOp
	id   string
	deep int
	// value is that of a constant, the key of a member.
	value any
	name  string
	args  []*Term
}

type termOp uint8

const (
	isConst termOp = iota
	isInput
	isMember
	isElement
	isCall
	isList
	isRecord
	isOver
	isOpaque
)

// Set is a constant set, as NewSet makes it; other constants are nil, booleans,
// float64, texts, lists and objects as of JSON.
type Set []any

// NewSet is the set of some constants: each once, in one order.
func NewSet(of []any) Set {
	out := lists.Copy(of)
	slices.SortFunc(out, func(a, b any) int { return strings.Compare(textOf(a), textOf(b)) })
	return lists.CompactFunc(out, same)
}

// Input is the event.
var Input = &Term{op: isInput, id: "input"}

// Const is a constant term.
func Const(v any) *Term {
	if n, ok := v.(json.Number); ok {
		v = Float(n)
	}
	if n, ok := v.(int); ok {
		v = Float(json.Number(strconv.Itoa(n)))
	}
	if n, ok := v.(float64); ok && math.Abs(n) > exactly || rounded(v) && kindOf(v) == Number {
		return Opaque(textOf(v))
	}
	return &Term{op: isConst, value: v, id: "=" + textOf(v)}
}

// exactly is up to where no two whole numbers are one float64.
const exactly = 1<<53 - 1

// mostDigits are the digits of which a float64 keeps all.
const mostDigits = 15

// Float is a number as float64, or as it is where that would be another number.
func Float(n json.Number) any {
	f, err := n.Float64()
	digits, _, _ := spell.Cut(strings.ToLower(strings.TrimPrefix(n.String(), "-")), "e")
	digits = strings.Trim(strings.Replace(digits, ".", "", 1), "0")
	whole := math.Abs(f) <= exactly && strings.Trim(n.String(), "-0123456789") == ""
	if err != nil || !whole && (len(digits) > mostDigits || math.Abs(f) > exactly || f == 0 && digits != "") {
		return n
	}
	return f + 0 // No negative zero.
}

// rounded reports whether a constant has a number that is no float64.
func rounded(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return true
	case []any:
		return slices.ContainsFunc(v, rounded)
	case Set:
		return slices.ContainsFunc(v, rounded)
	case map[string]any:
		for _, part := range v {
			if rounded(part) {
				return true
			}
		}
	}
	return false
}

// SetOf is a set of terms.
func SetOf(parts ...*Term) *Term {
	l := ListOf(parts...)
	if list, ok := l.value.([]any); ok {
		return Const(NewSet(list))
	}
	return &Term{op: isList, args: parts, name: "set", id: "{" + ids(parts) + "}", deep: l.deep}
}

// ObjectOf is an object of terms.
func ObjectOf(keys []string, parts ...*Term) *Term {
	constant := map[string]any{}
	for i, p := range parts {
		if p.op != isConst {
			return &Term{op: isRecord, args: parts, value: keys, id: fmt.Sprintf("{%q: %s}", keys, ids(parts)), deep: depth(parts)}
		}
		constant[keys[i]] = p.value
	}
	return Const(constant)
}

// Over is an object of the event with another value below one key; nil for terms that
// may be sets.
func Over(of *Term, key string, v *Term) *Term {
	if !under(of) && of.op != isOver {
		return nil
	}
	return &Term{op: isOver, args: []*Term{of, v}, value: key, id: fmt.Sprintf("over(%s, %q: %s)", of.id, key, v.id), deep: depth([]*Term{of, v})}
}

// Called is the function and the arguments of a call.
func (t *Term) Called() (name string, args []*Term) {
	if t.op != isCall {
		return "", nil
	}
	return t.name, t.args
}

// Made reports whether a term is an object or a list of other terms.
func (t *Term) Made() bool { return t.op == isList || t.op == isRecord }

// Opaque is a value of which nothing is known; two of one name are the same.
func Opaque(name string) *Term { return &Term{op: isOpaque, name: name, id: "?" + name} }

// ID is the same for terms that have the same value on every event, as far as that
// shows in how they were made.
func (t *Term) ID() string { return t.id }

// Constant is the value of a constant term.
//
//go:noinline
func (t *Term) Constant() (any, bool) { return t.value, t.op == isConst }

// Text is the value of a constant text.
//
//go:noinline
func (t *Term) Text() (string, bool) {
	s, ok := t.value.(string)
	return s, ok && t.op == isConst
}

// List is the parts of a list that is made of terms, or of a constant one.
func (t *Term) List() ([]*Term, bool) {
	switch v := t.value.(type) {
	case []any:
		if t.op == isConst {
			return constants(v), true
		}
	case Set:
		return constants(v), t.op == isConst
	}
	return t.args, t.op == isList
}

func constants(list []any) []*Term {
	out := make([]*Term, len(list))
	for i, v := range list {
		out[i] = Const(v)
	}
	return out
}

// ListOf is a list of terms.
func ListOf(parts ...*Term) *Term {
	values := make([]any, len(parts))
	for i, p := range parts {
		if p.op != isConst {
			return &Term{op: isList, args: parts, id: "[" + ids(parts) + "]", deep: depth(parts)}
		}
		values[i] = p.value
	}
	return Const(values)
}

// Member is what an object or a list has below a constant key: a text, or a whole
// number. It is nil for a constant without it.
func (t *Term) Member(key any) *Term {
	if n, ok := key.(int); ok {
		key = float64(n)
	}
	switch of := t.value.(type) {
	case map[string]any:
		name, text := key.(string)
		if v, there := of[name]; text && there {
			return Const(v)
		}
		return nil
	case []any:
		if n, ok := key.(float64); ok && n >= 0 && int(n) < len(of) && n == float64(int(n)) {
			return Const(of[int(n)])
		}
		return nil
	case Set:
		if slices.ContainsFunc(of, func(v any) bool { return same(v, key) }) {
			return Const(key)
		}
		return nil
	}
	if t.op == isConst {
		return nil
	}
	if keys, ok := t.value.([]string); ok && t.op == isRecord {
		if i := slices.Index(keys, textOrNot(key)); i >= 0 {
			return t.args[i]
		}
		return nil
	}
	if n, ok := key.(float64); ok && t.op == isList {
		if n >= 0 && int(n) < len(t.args) {
			return t.args[int(n)]
		}
		return nil
	}
	if t.op == isOver {
		if t.value == key {
			return t.args[1]
		}
		return t.args[0].Member(key)
	}
	return &Term{op: isMember, args: []*Term{t}, value: key, id: t.id + "." + textOf(key), deep: t.deep + 1}
}

func textOrNot(v any) string {
	s, ok := v.(string)
	if !ok {
		return "\x00"
	}
	return s
}

// Element is some element of a list, a set or an object: that of the number.
// Elements of different numbers may be different ones.
func (t *Term) Element(n int) *Term {
	return &Term{op: isElement, args: []*Term{t}, value: n, id: fmt.Sprintf("%s[#%d]", t.id, n), deep: t.deep + 1}
}

// KeyOf is the key or index at which an element is.
func KeyOf(element *Term) *Term { return Call("key of", element) }

// KeyIn is the element of a collection that t is the key of, nil where t is another
// term.
func (t *Term) KeyIn(of *Term) *Term {
	if t.op == isCall && t.name == "key of" && t.args[0].args[0].id == of.id {
		return t.args[0]
	}
	return nil
}

// Call is what a function gives.
func Call(name string, args ...*Term) *Term {
	return &Term{op: isCall, name: name, args: args, id: name + "(" + ids(args) + ")", deep: depth(args)}
}

func depth(of []*Term) int {
	out := 0
	for _, t := range of {
		out = max(out, t.deep+1)
	}
	return out
}

func ids(of []*Term) string {
	out := make([]string, len(of))
	for i, t := range of {
		out[i] = t.id
	}
	return strings.Join(out, ", ")
}

// String is the term for people.
func (t *Term) String() string {
	switch t.op {
	case isConst:
		return textOf(t.value)
	case isMember:
		if name, ok := t.value.(string); ok {
			return t.args[0].String() + "." + name
		}
		return t.args[0].String() + "[" + textOf(t.value) + "]"
	case isElement:
		return t.args[0].String() + "[_]"
	case isOpaque:
		return t.name
	case isInput:
		return "input"
	}
	parts := make([]string, len(t.args))
	for i, a := range t.args {
		parts[i] = a.String()
	}
	if t.op == isRecord || t.op == isOver {
		return "an object"
	}
	if t.op == isList {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return t.name + "(" + strings.Join(parts, ", ") + ")"
}

func textOf(v any) string {
	switch v := v.(type) {
	case Set:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = textOf(e)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case string:
		return strconv.Quote(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

func same(a, b any) bool { return textOf(a) == textOf(b) }

// Formula is true or false of every event. It is immutable.
type Formula struct {
	op    formulaOp
	parts []*Formula
	atom  *Atom
	why   string
}

type formulaOp uint8

const (
	isAnd formulaOp = iota
	isOr
	isNot
	isAtom
	isSome
	isUnknown
)

// True and False are the formulas without conditions.
var (
	True  = &Formula{op: isAnd}
	False = &Formula{op: isOr}
)

// And holds where all parts do.
func And(parts ...*Formula) *Formula { return joined(isAnd, False, parts) }

// Or holds where one of the parts does.
func Or(parts ...*Formula) *Formula { return joined(isOr, True, parts) }

func joined(op formulaOp, ends *Formula, parts []*Formula) *Formula {
	out := &Formula{op: op}
	for _, p := range parts {
		switch {
		case p == ends:
			return ends
		case p.op == op:
			out.parts = append(out.parts, p.parts...)
		default:
			out.parts = append(out.parts, p)
		}
	}
	switch {
	case len(out.parts) == 1:
		return out.parts[0]
	case len(out.parts) == 0 && op == isAnd:
		return True
	case len(out.parts) == 0:
		return False
	}
	return out
}

// Not holds where f does not.
//
//go:noinline
func Not(f *Formula) *Formula {
	switch {
	case f == True:
		return False
	case f == False:
		return True
	case f.op == isNot:
		return f.parts[0]
	}
	return &Formula{op: isNot, parts: []*Formula{f}}
}

// Some holds where f does for some elements: that it does not is not known of one
// of them.
//
//go:noinline
func Some(f *Formula) *Formula {
	if f == True || f == False {
		return f
	}
	return &Formula{op: isSome, parts: []*Formula{f}}
}

// Unknown may hold or not; why says what was not understood. Where it is to hold,
// the tests of hints are tried.
//
//go:noinline
func Unknown(why string, hints ...*Formula) *Formula {
	return &Formula{op: isUnknown, why: why, parts: hints}
}

// Exact reports whether nothing of a formula was left out.
func (f *Formula) Exact() bool {
	return f.op != isUnknown && f.op != isSome && !slices.ContainsFunc(f.parts, func(p *Formula) bool { return !p.Exact() })
}

// Atom is one test. It is false where what it tests is not there.
type Atom struct {
	op   atomOp
	a, b *Term
	lang *Lang
	// usual are the texts among which the agents send one, where that is known.
	usual *Lang
	kinds Kinds
	// Source is the test as it is written, At where.
	Source string
	At     diag.Span
}

type atomOp uint8

const (
	isEqual atomOp = iota
	isLess
	isMatch
	isKind
)

func (a *Atom) formula() *Formula { return &Formula{op: isAtom, atom: a} }

// Place says where a test is written.
type Place struct {
	Source string
	At     diag.Span
}

// Equal holds where two terms are there and equal.
func Equal(a, b *Term, at Place) *Formula {
	if a.op == isConst && b.op != isConst {
		a, b = b, a
	}
	if v, ok := b.Constant(); ok {
		if rounded(v) || a.op == isConst && rounded(a.value) {
			return Unknown("a number of many digits")
		}
		if w, also := a.Constant(); also {
			return truth(same(v, w))
		}
	}
	if list, made := a.List(); made && a.op == isList && a.name != "set" {
		if others, ok := b.List(); ok && b.name != "set" && kindOf(b.value) != SetKind {
			if len(list) != len(others) {
				return False
			}
			parts := make([]*Formula, len(list))
			for i := range list {
				parts[i] = Equal(list[i], others[i], at)
			}
			return And(parts...)
		}
	}
	return (&Atom{op: isEqual, a: a, b: b, Source: at.Source, At: at.At}).formula()
}

func truth(is bool) *Formula {
	if is {
		return True
	}
	return False
}

// Less holds where a is less than b. Values of different types are in Rego's order
// of types, or, if strict, not compared.
//
//go:noinline
func Less(a, b *Term, strict bool, at Place) *Formula {
	out := &Atom{op: isLess, a: a, b: b, Source: at.Source, At: at.At}
	if strict {
		out.kinds = Number | String
	}
	return out.formula()
}

// Match holds where a term is a text of the set. Usual, if not nil, is where agents
// keep to.
func Match(a *Term, l, usual *Lang, at Place) *Formula {
	if l.rough {
		return And(Is(a, String, at), Unknown("a pattern that is too large"))
	}
	if text, ok := a.Text(); ok {
		return truth(l.Has(text))
	}
	return (&Atom{op: isMatch, a: a, lang: l, usual: usual, Source: at.Source, At: at.At}).formula()
}

// Is holds where a term is of one of some kinds, Absent among them.
func Is(a *Term, kinds Kinds, at Place) *Formula {
	if v, ok := a.Constant(); ok {
		return truth(kindOf(v)&kinds != 0)
	}
	return (&Atom{op: isKind, a: a, kinds: kinds, Source: at.Source, At: at.At}).formula()
}

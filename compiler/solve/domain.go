package solve

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lists"
)

// Kinds are kinds of values, in Rego's order of types.
type Kinds uint16

// The kinds of values.
const (
	Absent Kinds = 1 << iota
	Null
	IsFalse
	IsTrue
	Number
	String
	List
	Object
	SetKind

	Anything  = SetKind<<1 - 1
	Present   = Anything &^ Absent
	Boolean   = IsFalse | IsTrue
	composite = List | Object | SetKind
)

var kindNames = []string{"absent", "null", "false", "true", "a number", "a text", "a list", "an object", "a set"}

func (k Kinds) String() string {
	var out []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, " or ")
}

//go:noinline
func kindOf(v any) Kinds {
	switch v := v.(type) {
	case nil:
		return Null
	case bool:
		if v {
			return IsTrue
		}
		return IsFalse
	case float64, json.Number:
		return Number
	case string:
		return String
	case []any:
		return List
	case map[string]any:
		return Object
	case Set:
		return SetKind
	}
	return Present
}

// domain is a set of values: of each kind all, or some. It is immutable.
type domain struct {
	kinds Kinds
	// text are the texts of it, num the numbers; nil is all.
	text *Lang
	num  []interval
	// only are the composite values, unless it is nil; but are those that are not.
	only, but []any
}

// interval is the numbers between two.
type interval struct {
	from, to         float64
	fromOpen, toOpen bool
}

func (i interval) empty() bool { return i.from > i.to || i.from == i.to && (i.fromOpen || i.toOpen) }

var everything = domain{kinds: Anything}

//go:noinline
func ofKinds(k Kinds) domain { return domain{kinds: k} }

//go:noinline
func ofTexts(l *Lang) domain { return domain{kinds: String, text: l} }

//go:noinline
func ofNumbers(i ...interval) domain { return domain{kinds: Number, num: i} }

func ofValue(v any) domain {
	d := domain{kinds: kindOf(v)}
	switch v := v.(type) {
	case string:
		d.text = Words(v)
	case float64:
		d.num = []interval{{from: v, to: v}}
	case []any, map[string]any, Set:
		d.only = []any{v}
	}
	return d
}

//go:noinline
func (d domain) empty() bool { return d.kinds == 0 }

// tidy takes out the kinds of which nothing is left.
func (d domain) tidy() domain {
	if d.text != nil && d.text.Empty() {
		d.kinds &^= String
	}
	if d.num != nil && len(d.num) == 0 {
		d.kinds &^= Number
	}
	if d.only != nil {
		d.kinds &^= composite
		for _, v := range d.only {
			d.kinds |= kindOf(v)
		}
	}
	return d
}

// and is what is in both.
func (d domain) and(e domain) domain {
	out := domain{kinds: d.kinds & e.kinds, text: d.text, num: d.num, only: d.only, but: lists.Concat(d.but, e.but)}
	switch {
	case out.kinds&String == 0:
		out.text = nil
	case d.text == nil:
		out.text = e.text
	case e.text != nil && d.text != e.text:
		out.text = d.text.And(e.text)
	}
	switch {
	case d.num == nil:
		out.num = e.num
	case e.num != nil:
		out.num = []interval{}
		for _, a := range d.num {
			for _, b := range e.num {
				if i := meet(a, b); !i.empty() {
					out.num = append(out.num, i)
				}
			}
		}
	}
	if d.only == nil {
		out.only = e.only
	} else if e.only != nil {
		out.only = intersect(d.only, e.only)
	}
	if out.only != nil {
		out.only = lists.DeleteFunc(lists.Copy(out.only), func(v any) bool {
			return out.kinds&kindOf(v) == 0 || slices.ContainsFunc(out.but, func(w any) bool { return same(v, w) })
		})
	}
	return out.tidy()
}

func intersect(a, b []any) []any {
	out := []any{}
	for _, v := range a {
		if slices.ContainsFunc(b, func(w any) bool { return same(v, w) }) {
			out = append(out, v)
		}
	}
	return out
}

func meet(a, b interval) interval {
	out := a
	if b.from > a.from || b.from == a.from && b.fromOpen {
		out.from, out.fromOpen = b.from, b.fromOpen
	}
	if b.to < a.to || b.to == a.to && b.toOpen {
		out.to, out.toOpen = b.to, b.toOpen
	}
	return out
}

// not is what is not in d.
func (d domain) not() domain {
	out := domain{kinds: Anything &^ d.kinds}
	if d.kinds&String != 0 && d.text != nil {
		out.kinds, out.text = out.kinds|String, d.text.Not()
	}
	if d.kinds&Number != 0 && d.num != nil {
		out.kinds, out.num = out.kinds|Number, []interval{}
		at := interval{from: math.Inf(-1), fromOpen: false}
		for _, i := range d.num { // in order
			at.to, at.toOpen = i.from, !i.fromOpen
			if !at.empty() && !math.IsInf(at.to, -1) {
				out.num = append(out.num, at)
			}
			at = interval{from: i.to, fromOpen: !i.toOpen}
		}
		at.to = math.Inf(1)
		if !math.IsInf(at.from, 1) {
			out.num = append(out.num, at)
		}
	}
	switch {
	case d.only != nil:
		out.kinds |= composite
		out.but = d.only
	case d.but != nil && d.kinds&composite != 0:
		if out.kinds&composite == 0 {
			out.only = d.but
			out.kinds |= composite
		} else {
			out.kinds |= composite // More than it is, which proves less.
		}
	}
	return out.tidy()
}

// of is the domain of a test of one term, that it holds or not. It is false where
// the test relates two terms.
func (a *Atom) domain(holds bool) (d domain, ok bool) {
	switch a.op {
	case isEqual:
		v, constant := a.b.Constant()
		if !constant {
			return domain{}, false
		}
		d = ofValue(v)
	case isMatch:
		d = ofTexts(a.lang)
	case isKind:
		d = ofKinds(a.kinds)
	case isLess:
		v, constant := a.b.Constant()
		if constant {
			d = beside(v, false, a.kinds)
		} else if v, constant = a.a.Constant(); constant {
			d = beside(v, true, a.kinds)
		} else {
			return domain{}, false
		}
		if !holds && d.text == nil {
			d.kinds &^= kindOf(v) & (String | composite) // What those are less than is not known.
		}
	}
	if holds {
		return d.tidy(), true
	}
	return d.not(), true
}

// term is the term whose domain the test is about.
//
//go:noinline
func (a *Atom) term() *Term {
	if _, constant := a.a.Constant(); a.op == isLess && constant {
		return a.b
	}
	return a.a
}

// beside is what is less than a value, or greater. Only some kinds are compared, if
// there are any, and then with their own.
func beside(v any, greater bool, strict Kinds) domain {
	k := kindOf(v)
	lower := (k - 1) &^ Absent
	if greater {
		lower = Present &^ (k<<1 - 1)
	}
	if strict != 0 {
		lower = 0
	}
	d := ofKinds(lower)
	n, number := v.(float64)
	switch {
	case number && greater:
		return domain{kinds: lower | Number, num: []interval{{from: n, fromOpen: true, to: math.Inf(1)}}}
	case number:
		return domain{kinds: lower | Number, num: []interval{{from: math.Inf(-1), to: n, toOpen: true}}}
	case k&(String|composite) != 0:
		d.kinds |= k
	}
	if text, is := v.(string); is && len(text) <= longest {
		d.text = smaller(text)
		if greater {
			d.text = d.text.Or(Words(text)).Not()
		}
	}
	return d
}

// smaller is the texts that are less than one, by the numbers of their characters.
func smaller(than string) *Lang {
	pattern, last := "", true
	for _, r := range slices.Backward([]rune(than)) {
		var ways []string
		if r > 0 {
			ways = append(ways, `[\x{0}-\x{`+strconv.FormatInt(int64(r)-1, 16)+`}].*`)
		}
		if !last {
			ways = append(ways, `\x{`+strconv.FormatInt(int64(r), 16)+`}`+pattern)
		}
		pattern, last = `(?:`+strings.Join(ways, "|")+`)?`, false
	}
	if than == "" {
		return anyText(false)
	}
	return expression(`\A(?s:` + pattern + `)\z`)
}

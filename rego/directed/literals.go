package directed

import (
	"regexp/syntax"
	"slices"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/native"
)

// origin is where in a slot a local's value is from.
type origin struct {
	slot  int32
	steps []string
}

// wants are the constants that a block tests slots with, by places in them.
func (t *Tries) wants(b *native.Block) []want {
	l := testsOf{t: t, from: map[int32]origin{}, given: map[int32][]native.Value{}}
	native.Walk([]native.Block{*b}, l.statement)
	for i := range l.out {
		w := &l.out[i]
		// false is what the result of a test is compared with.
		if rest := lists.DeleteFunc(lists.Copy(w.values), func(v any) bool { return v == false }); len(rest) > 0 {
			w.values = rest
		}
		if len(w.values) == 0 {
			w.values = []any{"a"}
		}
		if len(w.steps) > 0 && w.steps[len(w.steps)-1] == size {
			w.values = lists.Insert(w.values, 0, any(largest(w.values)+1))
		}
		if n := len(w.values); n > mostLiterals {
			w.values = lists.Concat(w.values[:mostLiterals/2], w.values[n-mostLiterals/2:])
		}
	}
	// The farther into a value, the earlier it is put in.
	sort.SliceStable(l.out, func(i, j int) bool { return len(l.out[i].steps) > len(l.out[j].steps) })
	return l.out
}

// testsOf reads a block.
type testsOf struct {
	t    *Tries
	from map[int32]origin
	// given are the constants that a local may hold: what a rule gives, or an
	// element of that.
	given map[int32][]native.Value
	out   []want
	depth int
}

// deepestCall is how far what a function is given is followed.
const deepestCall = 4

func (l *testsOf) statement(s *native.Stmt) {
	switch s.Op {
	case native.OpInput:
		l.from[int32(s.Target)] = origin{slot: s.Index}
		l.note(l.from[int32(s.Target)], nil)
		return
	case native.OpScan:
		if at, ok := l.from[s.A.N]; ok && !s.A.Const {
			l.from[int32(s.Target)] = at.below(each)
			return
		}
	case native.OpDot:
		if at, ok := l.from[s.A.N]; ok && !s.A.Const && s.B.Const {
			if key, text := l.t.p.Consts[s.B.N].(string); text {
				l.from[int32(s.Target)] = at.below(key)
				return
			}
		}
	case native.OpCallDynamic:
		l.names(s)
		return
	case native.OpCall:
		l.call(s)
	case native.OpCallBuiltin:
		if at, ok := l.counted(s); ok {
			l.from[int32(s.Target)] = at
			return
		}
	}
	l.test(s)
	l.pass(s)
}

// largest is the largest number of values, 0 of none.
func largest(values []any) int {
	out := 0
	for _, v := range values {
		if n, ok := v.(int); ok && n < mostLong {
			out = max(out, n)
		}
	}
	return out
}

// counted is where the value is from whose size a statement takes.
func (l *testsOf) counted(s *native.Stmt) (origin, bool) {
	if l.t.p.Builtins[s.Index] != "count" || len(s.Args) != 1 || s.Args[0].Const {
		return origin{}, false
	}
	at, ok := l.from[s.Args[0].N]
	return at.below(size), ok
}

// call follows what a function is given into it, and takes the constants that it
// gives.
func (l *testsOf) call(s *native.Stmt) {
	f := &l.t.p.Funcs[s.Index]
	if l.depth >= deepestCall {
		return
	}
	inner := testsOf{t: l.t, from: map[int32]origin{}, given: map[int32][]native.Value{}, out: l.out, depth: l.depth + 1}
	for i := contextParams; i < len(s.Args); i++ {
		if s.Args[i].Const {
			inner.given[int32(i)] = []native.Value{l.t.p.Consts[s.Args[i].N]}
		} else if at, ok := l.from[s.Args[i].N]; ok {
			inner.from[int32(i)] = at
		}
	}
	var given []native.Value
	native.Walk(f.Blocks, func(in *native.Stmt) {
		if len(inner.from) > 0 {
			inner.statement(in)
		}
		if (in.Op == native.OpAssignOnce || in.Op == native.OpSetAdd || in.Op == native.OpReturn) && in.A.Const {
			given = append(given, l.t.p.Consts[in.A.N])
		}
	})
	if len(s.Args) > contextParams {
		l.out = inner.out
	}
	l.given[int32(s.Target)] = given
}

// pass notes what constants a local holds after a statement.
func (l *testsOf) pass(s *native.Stmt) {
	from := func(o native.Operand) []native.Value {
		if o.Const {
			return []native.Value{l.t.p.Consts[o.N]}
		}
		return l.given[o.N]
	}
	switch s.Op {
	case native.OpAssign:
		l.given[int32(s.Target)] = from(s.A)
	case native.OpDot, native.OpScan:
		var out []native.Value
		for _, v := range from(s.A) {
			native.Each(v, func(_, e native.Value) bool { out = append(out, e); return len(out) < mostLiterals })
		}
		l.given[int32(s.Target)] = out
	}
}

//go:noinline
func (o origin) below(step string) origin {
	return origin{o.slot, append(slices.Clip(o.steps), step)}
}

// test notes the constants that a statement has beside what is from a slot.
func (l *testsOf) test(s *native.Stmt) {
	var at *origin
	var found []any
	for _, o := range s.Operands() {
		if o.Const {
			found = append(found, l.constants(s, l.t.p.Consts[o.N])...)
		} else if from, ok := l.from[o.N]; ok {
			at = &from
		} else {
			for _, v := range l.given[o.N] {
				found = append(found, l.constants(s, v)...)
			}
		}
	}
	if at == nil {
		return
	}
	l.note(*at, found)
	if s.Op.HasTarget() {
		l.from[int32(s.Target)] = *at
	}
}

// names notes the names of the rules that a call may find.
func (l *testsOf) names(s *native.Stmt) {
	for i, o := range s.Keys {
		at, ok := l.from[o.N]
		if o.Const || !ok {
			continue
		}
		for _, f := range l.t.p.Funcs {
			if len(f.Path) > i {
				l.note(at, []any{f.Path[i]})
			}
		}
	}
}

// note adds values to what is wanted at a place, where something is, at least.
func (l *testsOf) note(at origin, values []any) {
	for i := range l.out {
		if w := &l.out[i]; w.slot == at.slot && lists.Equal(w.steps, at.steps) {
			w.values = append(w.values, values...)
			return
		}
	}
	l.out = append(l.out, want{at.slot, at.steps, lists.Copy(values)})
}

// constants are the values that a constant of a statement means: the
// elements of a collection, its keys, texts that a pattern matches.
func (l *testsOf) constants(s *native.Stmt, v native.Value) []any {
	if text, ok := v.(string); ok && s.Op == native.OpCallBuiltin {
		switch name := l.t.p.Builtins[s.Index]; {
		case strings.HasPrefix(name, "regex."):
			return []any{sampleOf(text), text}
		case name == "glob.match":
			return []any{strings.NewReplacer("**", "a", "*", "a", "?", "a").Replace(text), text}
		}
	}
	var out []any
	for _, m := range members(v) {
		out = append(out, l.t.plain(m))
	}
	return out
}

// members are the elements of a constant collection, or a constant.
func members(v native.Value) []native.Value {
	switch x := v.(type) {
	case *native.Set:
		return x.Elems()
	case []native.Value:
		return x
	case map[string]native.Value, *native.Object:
		return native.Keys(x)
	}
	return []native.Value{v}
}

// sampleOf is a text that a regular expression matches, where that is easily
// told.
func sampleOf(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return pattern
	}
	var b strings.Builder
	sample(&b, re)
	return b.String()
}

func sample(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(printable(re.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpPlus:
		sample(b, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(b, sub)
		}
	case syntax.OpRepeat:
		for range re.Min {
			sample(b, re.Sub[0])
		}
	case syntax.OpWordBoundary:
		if b.Len() > 0 && !strings.HasSuffix(b.String(), " ") {
			b.WriteByte(' ')
		}
	}
}

// printable is a character of a class, a letter where there is one.
func printable(ranges []rune) rune {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= 'a' && 'a' <= ranges[i+1] {
			return 'a'
		}
	}
	return ranges[0]
}

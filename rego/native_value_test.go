package rego

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// oddNumbers are texts that numbers are compared by: integers beyond int64 and
// float64, equal numbers written apart, fractions that are one float64.
var oddNumbers = []string{
	"0", "-0", "0.0", "-0.0", "0e5", "1", "1.0", "1.00", "1e0", "10e-1", "-1", "-1.0", "2", "10", "100", "1e2", "1E2", "1e+2",
	"0.1", "0.10", "0.100", "0.1000000000000000055511151231257827", "0.10000000000000000000", "0.10000000000000000010",
	"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0", "9007199254740993.5", "9.007199254740993e15",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
	"123456789012345678901234567890", "123456789012345678901234567890.0", "1.5", "1.50", "-1.5", "0.5", "5e-1", "1e21", "1e+21", "1e20",
	"100000000000000000000", "1e-6", "1e-7", "0.0000001", "1e300", "1e301", "10e300", "1e308", "1e309", "1e400", "10e399", "-1e400", "1e-400",
	"1.7976931348623157e308", "5e-324", "2.2250738585072014e-308", "3.141592653589793", "3.14159265358979", "3.1415926535897931", "12345678.9",
}

// generator makes random values in both engines' forms.
type generator struct{ *rand.Rand }

func (g generator) number() (native.Value, *ast.Term) {
	switch g.IntN(4) {
	case 0:
		n := g.IntN(7) - 3
		return n, ast.IntNumberTerm(n)
	case 1:
		f := float64(g.IntN(64)-32) / 8
		if g.IntN(8) == 0 {
			f = g.NormFloat64() * float64(uint64(1)<<g.IntN(63))
		}
		text, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		return f, ast.NumberTerm(json.Number(text))
	}
	text := oddNumbers[g.IntN(len(oddNumbers))]
	return asNumber(text, g.IntN(2) == 0), ast.NumberTerm(json.Number(text))
}

// asNumber is a number as a decoder would give it: an int or a float64 where
// nothing is lost, else by its text.
func asNumber(text string, foreign bool) native.Value {
	if i, err := strconv.Atoi(text); err == nil && strconv.Itoa(i) == text {
		return i
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if written, err := json.Marshal(f); err == nil && string(written) == text {
			return f
		}
	}
	if foreign {
		return json.Number(text)
	}
	return native.Number(text)
}

var oddStrings = []string{"", "a", "b", "ab", "A", "é", "e\u0301", "\u2028", "\x00", "\xff", "日本", "😀", "a\"b\\", "\n", "\u200b", "Z", "aa"}

func (g generator) value(depth int) (native.Value, *ast.Term) {
	kinds := 8
	if depth == 0 {
		kinds = 4
	}
	switch g.IntN(kinds) {
	case 0:
		return nil, ast.NullTerm()
	case 1:
		b := g.IntN(2) == 0
		return b, ast.BooleanTerm(b)
	case 2:
		return g.number()
	case 3:
		s := oddStrings[g.IntN(len(oddStrings))]
		return s, ast.StringTerm(s)
	case 4:
		var terms []*ast.Term
		list := []native.Value{}
		for range g.IntN(4) {
			v, term := g.value(depth - 1)
			list, terms = append(list, v), append(terms, term)
		}
		return list, ast.ArrayTerm(terms...)
	case 5:
		set, terms := native.NewSet(), ast.NewSet()
		for range g.size() {
			v, term := g.value(depth - 1)
			set.Add(v)
			terms.Add(term)
		}
		return set, ast.NewTerm(terms)
	case 6:
		m, o := map[string]native.Value{}, ast.NewObject()
		for range g.IntN(5) {
			k := oddStrings[g.IntN(len(oddStrings))]
			v, term := g.value(depth - 1)
			m[k] = v
			o.Insert(ast.StringTerm(k), term)
		}
		return m, ast.NewTerm(o)
	}
	made, o := native.NewObject(), ast.NewObject()
	for range g.size() {
		k, kt := g.value(depth - 1)
		v, vt := g.value(depth - 1)
		if o.Get(kt) != nil {
			// OPA's Insert of a key that is there loses others of its hash, such
			// as null beside false.
			continue
		}
		made.Put(k, v)
		o.Insert(kt, vt)
	}
	return made, ast.NewTerm(o)
}

// size is mostly small, at times beyond what is searched one by one.
func (g generator) size() int {
	if g.IntN(8) == 0 {
		return 8 + g.IntN(20)
	}
	return g.IntN(4)
}

func sign(n int) int { return min(max(n, -1), 1) }

// TestNativeValues: values compare, sort, are looked up and are written as
// OPA's are.
func TestNativeValues(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(7, 7))}
	for range 600 {
		values, terms := make([]native.Value, 12), make([]*ast.Term, 12)
		for i := range values {
			values[i], terms[i] = g.value(g.IntN(4))
			require.Equal(t, terms[i].Value.String(), native.Text(values[i]))
		}
		for i, a := range values {
			for j, b := range values {
				want := ast.Compare(terms[i], terms[j])
				require.Equal(t, sign(want), sign(native.Compare(a, b)), "%v and %v", terms[i], terms[j])
				require.Equal(t, want == 0, native.Equal(a, b), "%v and %v", terms[i], terms[j])
				lookup(t, a, b, terms[i], terms[j])
			}
		}
		slices.SortStableFunc(values, native.Compare)
		slices.SortStableFunc(terms, ast.TermValueCompare)
		for i := range values {
			require.Equal(t, terms[i].Value.String(), native.Text(values[i]))
		}
	}
}

// lookup compares what is under a key.
func lookup(t *testing.T, v, key native.Value, in, by *ast.Term) {
	t.Helper()
	var want *ast.Term
	switch x := in.Value.(type) {
	case *ast.Array:
		want = x.Get(by)
	case ast.Object:
		want = x.Get(by)
	case ast.Set:
		if x.Contains(by) {
			want = by
		}
	}
	got, ok := native.Get(v, key)
	require.Equal(t, want != nil, ok, "%v[%v]", in, by)
	if ok {
		require.True(t, native.Equal(got, mustValue(want)), "%v[%v]", in, by)
	}
}

// mustValue is a term by its text, so that nothing of what it is compared to
// made it.
func mustValue(term *ast.Term) native.Value {
	switch x := term.Value.(type) {
	case ast.Null:
		return nil
	case ast.Boolean:
		return bool(x)
	case ast.String:
		return string(x)
	case ast.Number:
		return native.Number(x)
	case *ast.Array:
		list := []native.Value{}
		x.Foreach(func(e *ast.Term) { list = append(list, mustValue(e)) })
		return list
	case ast.Set:
		set := native.NewSet()
		x.Foreach(func(e *ast.Term) { set.Add(mustValue(e)) })
		return set
	}
	o := native.NewObject()
	term.Value.(ast.Object).Foreach(func(k, v *ast.Term) { o.Put(mustValue(k), mustValue(v)) })
	return o
}

// TestNativeNumbers: every two odd numbers compare as OPA compares them.
func TestNativeNumbers(t *testing.T) {
	for _, a := range oddNumbers {
		for _, b := range oddNumbers {
			want := ast.Compare(ast.Number(a), ast.Number(b))
			require.Equal(t, sign(want), sign(native.Compare(asNumber(a, false), asNumber(b, true))), "%s and %s", a, b)
			require.Equal(t, sign(want), sign(native.Compare(native.Number(a), native.Number(b))), "%s and %s", a, b)
			have := ast.NewSet(ast.NumberTerm(json.Number(a)), ast.NumberTerm(json.Number(b)))
			require.Equal(t, have.Len(), native.NewSet(native.Number(a), native.Number(b)).Len(), "{%s, %s}", a, b)
		}
	}
}

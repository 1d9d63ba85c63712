package native

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ladder is values in ascending order; those of one rung are equal.
func ladder() [][]Value {
	return [][]Value{
		{nil}, {false}, {true},
		{Number("-1e400")}, {math.MinInt64, Number("-9223372036854775808.0")}, {-1.5, Number("-1.50"), json.Number("-15e-1")}, {-1, Number("-1.0")},
		{0, Number("-0"), Number("0.0"), Number("0e9"), 0.0}, {5e-324}, {Number("0.1"), 0.1, Number("0.10"), Number("1e-1")}, {1, Number("1.0"), Number("10e-1")},
		{1.5}, {2, json.Number("2.0")}, {9007199254740992}, {Number("9007199254740993"), 9007199254740993}, {math.MaxInt64, Number("9223372036854775807.0")},
		{Number("9223372036854775808")}, {1e21, Number("1000000000000000000000")}, {Number("1e400"), Number("10e399")},
		{""}, {"A"}, {"a"}, {"a\x00"}, {"aa"}, {"é"}, {"\xff"},
		{[]Value{}}, {[]Value{nil}}, {[]Value{1}, []Value{Number("1.0")}}, {[]Value{1, 1}}, {[]Value{2}}, {[]Value{[]Value{}}},
		{object{}, NewObject()}, {with("a", 1), object{"a": 1}}, {object{"a": 1, "b": 0}}, {object{"a": 2}}, {object{"b": 0}}, {with([]Value{1}, 0), with([]Value{Number("1.0")}, 0)},
		{NewSet()}, {NewSet(1), NewSet(Number("1.0"))}, {NewSet(1, 2)}, {NewSet("a", 1), NewSet(1, "a")}, {NewSet("a")}, {NewSet([]Value{})},
	}
}

func with(k, v Value) *Object {
	o := NewObject()
	o.Put(k, v)
	return o
}

// TestCompare: every rung is below the next ones and equal in itself.
func TestCompare(t *testing.T) {
	rungs := ladder()
	for i, a := range rungs {
		for j, b := range rungs {
			for _, x := range a {
				for _, y := range b {
					assert.Equal(t, order(i, j), order(Compare(x, y), 0), "%s and %s", Text(x), Text(y))
					assert.Equal(t, i == j, Equal(x, y), "%s and %s", Text(x), Text(y))
					if i == j && Text(x) != "1e400" && Text(x) != "10e399" {
						assert.Equal(t, hash(x), hash(y), "%s and %s", Text(x), Text(y))
					}
					assert.Equal(t, i == j && Text(x) == Text(y), i == j && identical(x, y), "%s and %s", Text(x), Text(y))
				}
			}
		}
	}
	// Fractions that are one float64 are equal, if they end in zeros.
	assert.Zero(t, Compare(Number("0.10"), Number("0.10000000000000000010")))
	assert.Negative(t, Compare(Number("0.10"), Number("0.1000000000000000001")))
	assert.Negative(t, Compare(Number("0.10"), Number("0.100000000000010")))
	for _, bad := range []Value{Number("x"), Number("1e99999999"), math.NaN(), int64(1), struct{}{}} {
		assert.PanicsWithError(t, ErrBail.Error(), func() { Compare(Number("1.25"), bad) }, "%v", bad)
	}
}

// TestText: values are written as Rego writes them.
func TestText(t *testing.T) {
	for want, v := range map[string]Value{
		`null`: nil, `true`: true, `-7`: -7, `1.0`: Number("1.0"), `0.000001`: 1e-6, `1e-7`: 1e-7, `1e+21`: 1e21, `100000000000000000000`: 1e20, `2.5`: json.Number("2.5"),
		`"a\"\n\u2028\xff\u00a0é"`: "a\"\n\u2028\xff\u00a0é", `[1, "a", []]`: []Value{1, "a", []Value{}}, `{}`: object{}, `set()`: NewSet(),
		`{"a": {1}, "b": null}`: object{"b": nil, "a": NewSet(1)}, `{1: 2}`: with(1, 2), `{1, 2, {3}}`: NewSet(2, NewSet(3), 1),
	} {
		assert.Equal(t, want, Text(v))
	}
}

// TestCollections: what is put in is found, however many there are and of
// whatever kind.
func TestCollections(t *testing.T) {
	for _, n := range []int{1, few, few + 1, 100} {
		set, o := NewSet(), NewObject()
		keys := []Value{}
		for i := range n {
			for _, k := range []Value{i, Text(i), []Value{i}, float64(i) + 0.5} {
				keys = append(keys, k)
				assert.True(t, set.Add(k))
				assert.False(t, set.Add(k))
				o.Put(k, "old")
				o.Put(k, Text(k))
			}
		}
		for range 2 {
			for _, k := range keys {
				assert.True(t, set.Has(k))
				v, ok := o.Get(k)
				assert.Equal(t, []any{Text(k), true}, []any{v, ok})
			}
			assert.Equal(t, []int{4 * n, 4 * n}, []int{set.Len(), o.Len()})
			for _, k := range []Value{-1, "x", []Value{-1}, nil, 0.25} {
				_, ok := o.Get(k)
				assert.Equal(t, []bool{false, false}, []bool{set.Has(k), ok})
			}
			// Sorting moves what is found.
			elems, sorted := set.Elems(), Keys(o)
			assert.Equal(t, elems, sorted)
			for i := range elems[1:] {
				assert.Negative(t, Compare(elems[i], elems[i+1]))
			}
		}
	}
	big := NewSet(Number("1e400"))
	assert.Equal(t, []bool{true, false}, []bool{big.Add(Number("10e399")), big.Add(Number("1e400"))}, "OPA's sets tell them apart")
	v, ok := NewSet(Number("1.0")).Get(1)
	assert.Equal(t, []any{Number("1.0"), true}, []any{v, ok})
}

// TestGet: elements by index, values by key, members by themselves.
func TestGet(t *testing.T) {
	for _, c := range []struct {
		v, key, want Value
		ok           bool
	}{
		{[]Value{"a", "b"}, 1, "b", true}, {[]Value{"a", "b"}, Number("1.0"), "b", true}, {[]Value{"a", "b"}, json.Number("0"), "a", true}, {[]Value{"a"}, Number("-0"), "a", true},
		{[]Value{"a"}, 1, nil, false}, {[]Value{"a"}, -1, nil, false}, {[]Value{"a"}, 0.5, nil, false}, {[]Value{"a"}, "0", nil, false}, {[]Value{"a"}, Number("0e1"), nil, false},
		{[]Value{"a"}, Number("18446744073709551616"), nil, false}, {[]Value{"a"}, Number("9999999999999999999"), nil, false}, {[]Value{"a"}, Number("0.0.0"), nil, false},
		{object{"k": nil}, "k", nil, true}, {object{"k": 1}, 1, nil, false}, {with(1, 2), Number("1.0"), 2, true}, {NewSet("a"), "a", "a", true}, {NewSet("a"), "b", nil, false},
		{"text", 0, nil, false}, {nil, 0, nil, false},
	} {
		v, ok := Get(c.v, c.key)
		assert.Equal(t, []any{c.want, c.ok}, []any{v, ok}, "%s[%s]", Text(c.v), Text(c.key))
	}
	assert.Equal(t, []int{2, 1, 1, 3, 0}, []int{Len([]Value{1, 2}), Len(object{"a": 1}), Len(with(1, 1)), Len(NewSet(1, 2, 3)), Len("text")})
	stopped := 0
	for _, v := range []Value{[]Value{1, 2}, object{"a": 1, "b": 2}, copyObject(object{"a": 1, "b": 2}), NewSet(1, 2)} {
		Each(v, func(Value, Value) bool { stopped++; return false })
	}
	assert.Equal(t, 4, stopped)
}

package builtins

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// Values and what queries select from them, most of them those of RFC 9535. What
// is selected comes in the order of the value, not of the query.
var selections = []struct {
	value string
	want  map[string]string
}{
	{`{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}`, map[string]string{
		`$.o['j j']`: `[{"k.k": 3}]`, `$.o['j j']['k.k']`: `[3]`, `$.o["j j"]["k.k"]`: `[3]`, `$["'"]["@"]`: `[2]`, `$['\'']['@']`: `[2]`,
		`$`: `[{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}]`, `o`: `[{"j j": {"k.k": 3}}]`, `@.o.x`: `[]`, `$ ["o"] ['j j']`: `[{"k.k": 3}]`, `$['\u006f'].*.*`: `[3]`}},
	{`{"o": {"j": 1, "k": 2}, "a": [5, 3]}`, map[string]string{
		`$[*]`: `[[5, 3], {"j": 1, "k": 2}]`, `$.o[*, *]`: `[1, 1, 2, 2]`, `$.a[*]`: `[5, 3]`, `$..j`: `[1]`, `$..[0]`: `[5]`, `$..*`: `[[5, 3], 5, 3, {"j": 1, "k": 2}, 1, 2]`,
		`$.o[0]`: `[]`, `$.a.j`: `[]`, `$.a[0:1].x`: `[]`, `a[1]`: `[3]`, `$..['j', 'k']`: `[1, 2]`}},
	{`["a", "b", "c", "d", "e", "f", "g"]`, map[string]string{
		`$[1:3]`: `["b", "c"]`, `$[5:]`: `["f", "g"]`, `$[1:5:2]`: `["b", "d"]`, `$[5:1:-2]`: `["d", "f"]`, `$[::-1]`: `["a", "b", "c", "d", "e", "f", "g"]`, `$[-2:]`: `["f", "g"]`,
		`$[:-5]`: `["a", "b"]`, `$[-9:1]`: `["a"]`, `$[3:99]`: `["d", "e", "f", "g"]`, `$[1:3:0]`: `[]`, `$[2:-6:-1]`: `["c"]`, `$[0:2, 5]`: `["a", "b", "f"]`, `$[0, 0]`: `["a", "a"]`,
		`$[-1]`: `["g"]`, `$[-8]`: `[]`, `$[7]`: `[]`, `$[ 1 : 3 ]`: `["b", "c"]`, `$[4:2:]`: `[]`, `$[9007199254740991:1:-9007199254740991]`: `["g"]`}},
	{`{"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}], "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}, "e": "f"}`, map[string]string{
		`$.a[?@.b == 'kilo']`: `[{"b": "kilo"}]`, `$.a[?(@.b == 'kilo')]`: `[{"b": "kilo"}]`, `$.a[?@>3.5]`: `[5, 4, 6]`, `$.a[?@.b]`: `[{"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]`,
		`$[?@.*]`:       `[[3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}], {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}]`,
		`$[?@[?@.b]].x`: `[]`, `$.o[?@<3, ?@<3]`: `[1, 1, 2, 2]`, `$.a[?@<2 || @.b == "k"]`: `[1, {"b": "k"}]`, `$.a[?match(@.b, "[jk]")]`: `[{"b": "j"}, {"b": "k"}]`,
		`$.a[?search(@.b, "[jk]")]`: `[{"b": "j"}, {"b": "k"}, {"b": "kilo"}]`, `$.o[?@>1 && @<4]`: `[2, 3]`, `$.o[?@.u || @.x]`: `[{"u": 6}]`, `$.a[?@.b == $.x]`: `[3, 5, 1, 2, 4, 6]`,
		`$.a[?@ == @]`: `[3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]`, `$.a[?!(@.b) && @ != 3]`: `[5, 1, 2, 4, 6]`, `$.a[?!@.b && @ <= 2]`: `[1, 2]`,
		`$.a[?length(@.b) > 1].b`: `["kilo"]`, `$[?count(@.*) == 5].p`: `[1]`, `$.o[?value(@.u) == 6]`: `[{"u": 6}]`, `$.a[?@.b >= "k"].b`: `["k", "kilo"]`, `$.a[?@ >= 5.0]`: `[5, 6]`,
		`$.a[?@ == 3.0 || @ == 1e0]`: `[3, 1]`, `$.a[?@ < "z"]`: `[]`, `$.a[?@.b == null]`: `[]`, `$.a[?true == true].b`: `["j", "k", {}, "kilo"]`, `$.o[?-1 < @ && @ < 2]`: `[1]`}},
	{`{"t": [{"n": null}, {"n": 18446744073709551616}, {"n": 9007199254740993}, {"n": "é"}]}`, map[string]string{
		`$.t[?@.n == null].n`: `[null]`, `$.t[?@.n > 9007199254740992].n`: `[18446744073709551616, 9007199254740993]`, `$.t[?@.n >= 9007199254740994].n`: `[18446744073709551616]`,
		`$.t[?@.n == 'é'].n`: `["é"]`, `$.t[?length(@.n) == 1].n`: `["é"]`}},
}

func TestJSONPathSelects(t *testing.T) {
	for _, c := range selections {
		value, err := policy.DecodeJSON([]byte(c.value))
		require.NoError(t, err, c.value)
		for query, text := range c.want {
			want, err := policy.DecodeJSON([]byte(text))
			require.NoError(t, err, text)
			got, err := selected(value, query)
			require.NoError(t, err, query)
			assert.True(t, policy.SameValue(want, got), "%s of %s: %v, not %v", query, c.value, got, want)
		}
	}
}

// What is no query is an error that says where, and nothing is selected.
func TestJSONPathMistakes(t *testing.T) {
	for query, at := range map[string]string{
		"$.": "byte 3", "$..": "byte 4", "$[": "byte 3", "$[]": "byte 3", "$['a'": "byte 6", "$['a": "expected '", "$x": "byte 2", "$.a-b": "byte 4", "$[1,]": "byte 5", "$[1 2]": "byte 5",
		"$.a b": "byte 4", "$[?]": "byte 4", "$[?@.a ==]": "expected @", "$[?1]": "comparison", "$[?(@.a]": "expected )", "$[?@.a = 1]": "expected ]", "$[?x(@)]": "functions",
		"$[?@ == 1.]": "no number", "$[?count(1) > 1]": "expected @", "$[99999999999999999999]": "no index", `$["\x"]`: "escapes", "$[?length(@)]": "comparison", "$.[0]": "a name",
		"$[?@.a =~ /x/]": "expected ]", "$" + strings.Repeat("[?!", 300): "expected", "$[--1]": "no index", "!": "byte 1", "$[?match(@.a)]": "expected ,",
	} {
		got, err := selected(map[string]any{"a": 1}, query)
		assert.Nil(t, got, query)
		if assert.Error(t, err, query) {
			assert.Contains(t, err.Error(), "is not a JSONPath query: at byte", query)
			assert.Contains(t, err.Error(), at, query)
		}
	}
	_, err := selected(nil, strings.Repeat("x", maxQuery+1))
	assert.ErrorContains(t, err, "longer than 1024 bytes")
	_, err = selected([]any{"a"}, "$[?match(@, '(')]")
	assert.ErrorContains(t, err, "missing closing )")
}

// What a query may select and look at is bounded, whatever the value.
func TestJSONPathIsBounded(t *testing.T) {
	wide := make([]any, 2000)
	for i := range wide {
		wide[i] = i
	}
	_, err := selected(wide, "$[*,*,*]")
	require.NoError(t, err)
	_, err = selected(wide, "$["+strings.Repeat("*,", 60)+"*]")
	assert.ErrorContains(t, err, "selects more than 100000 values")
	_, err = selected(wide, "$[?count($[?count($[*]) > 1]) > 1]")
	assert.ErrorContains(t, err, "looks at more than 2000000 values")
	var deep any = "x"
	for range 500 {
		deep = []any{deep}
	}
	got, err := selected(deep, "$..*")
	require.NoError(t, err)
	assert.Len(t, got, 500)
}

package bounds

import (
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// values are arguments of a call, as a test writes them.
type values []any

func (a values) Text(i int) (string, bool) {
	if i >= len(a) {
		return "", false
	}
	s, ok := a[i].(string)
	return s, ok
}

func (a values) Number(i int) (string, bool) {
	if i >= len(a) {
		return "", false
	}
	n, ok := a[i].(number)
	return string(n), ok
}

type number string

func (a values) Count(i int) int {
	if i >= len(a) {
		return 0
	}
	switch x := a[i].(type) {
	case []any:
		return len(x)
	case map[string]any:
		return len(x)
	}
	return 0
}

func (a values) Deep(i int) (m Measure) {
	if i < len(a) {
		deep(&m, a[i], 0)
	}
	return m
}

func deep(m *Measure, v any, depth int64) {
	switch x := v.(type) {
	case string:
		m.Text(x)
	case number:
		m.Num(string(x))
	case []any:
		m.Enter(len(x), depth)
		for _, e := range x {
			deep(m, e, depth+1)
		}
	case map[string]any:
		m.Enter(2*len(x), depth)
		for k, e := range x {
			m.Text(k)
			deep(m, e, depth+1)
		}
	default:
		m.Plain()
	}
}

func (a values) Pairs(i int, yield func(key, value string, ok bool)) {
	if i < len(a) {
		each(a[i], func(key string, v any) {
			s, ok := v.(string)
			yield(key, s, ok)
		})
	}
}

func (a values) Lists(i int, yield func(key string, list []string)) {
	if i >= len(a) {
		return
	}
	each(a[i], func(key string, v any) {
		var list []string
		each(v, func(_ string, e any) {
			if s, ok := e.(string); ok {
				list = append(list, s)
			}
		})
		yield(key, list)
	})
}

func each(v any, yield func(key string, v any)) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			yield("", e)
		}
	case map[string]any:
		for k, e := range x {
			yield(k, e)
		}
	}
}

func texts(n int, s string) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = s
	}
	return out
}

// complete is a graph in which each node leads to each.
func complete(n int) map[string]any {
	all := []any{}
	for i := range n {
		all = append(all, string(rune('a'+i)))
	}
	out := map[string]any{}
	for _, name := range all {
		out[name.(string)] = all
	}
	return out
}

// What would take much is known before the call; what rules do is not taken for
// it.
func TestNeed(t *testing.T) {
	mega := strings.Repeat("a", 1<<20)
	for name, cases := range map[string]struct {
		bombs, rules []values
	}{
		"replace":           {[]values{{mega, "a", "aaaaaaaaaaaaaaaaaaaaaa"}, {mega, "", "aaaaaaaaaaaa"}}, []values{{mega, "b", mega}, {"a b", " ", ""}}},
		"strings.replace_n": {[]values{{map[string]any{"a": strings.Repeat("b", 100)}, mega}}, []values{{map[string]any{"<": "&lt;", ">": "&gt;"}, mega}}},
		"concat":            {[]values{{mega, texts(20, "x")}, {"", texts(20, mega)}}, []values{{", ", texts(1000, "word")}}},
		"split":             {[]values{{mega, "a"}, {mega, ""}}, []values{{strings.Repeat("a line of text that goes on\n", 30000), "\n"}}},
		"sprintf":           {[]values{{strings.Repeat("%999999d", 10), texts(10, "")}, {strings.Repeat("%[1]s", 20), []any{mega}}, {"%*d%*d%*d%*d%*d%*d%*d%*d%*d", nil}}, []values{{"%s is not %d %5.2f", []any{"a", number("1"), number("2")}}, {"%[1]s %[1]s", []any{"a"}}}},
		"json.marshal":      {[]values{{strings.Repeat("\x01", 2<<20)}}, []values{{texts(10000, "words and words")}}},
		"yaml.marshal":      {[]values{{nested(4000)}}, []values{{nested(40)}}},
		"json.marshal_with_options": {[]values{{nested(400), map[string]any{"indent": strings.Repeat(" ", 1000)}}},
			[]values{{nested(40), map[string]any{"indent": "  "}}}},
		"json.unmarshal":        {[]values{{"[" + strings.Repeat("0,", 200_000) + "0]"}}, []values{{`{"a": [1, 2, 3]}`}}},
		"yaml.unmarshal":        {[]values{{"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nf: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ng: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nh: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"}}, []values{{"x: &x {a: 1}\ny: *x\nz: [1, 2]\n"}}},
		"numbers.range":         {[]values{{number("1"), number("2000000000")}, {number("-1e20"), number("1")}}, []values{{number("1"), number("100000")}}},
		"numbers.range_step":    {[]values{{number("1"), number("2000000000"), number("2")}}, []values{{number("1"), number("1e9"), number("100000")}}},
		"net.cidr_expand":       {[]values{{"10.0.0.0/8"}, {"::/0"}, {"2001:db8::/64"}}, []values{{"10.0.0.0/16"}, {"not one"}}},
		"bits.lsh":              {[]values{{number("1"), number("20000000000")}, {number("1"), number("10000000")}, {number("1"), number("1e30")}}, []values{{number("1"), number("4096")}}},
		"mul":                   {[]values{{number("1e100000000"), number("2")}, {number(strings.Repeat("9", 40000)), number("1")}}, []values{{number("1e400"), number("3")}}},
		"product":               {[]values{{[]any{number("1e20000"), number("1e20000")}}}, []values{{[]any{number("1e200"), number("3")}}}},
		"sum":                   {[]values{{[]any{number("1e100000000")}}}, []values{{[]any{number("1"), number("3.5")}}}},
		"to_number":             {[]values{{"1e100000000"}, {strings.Repeat("9", 40000)}}, []values{{"12"}, {"1e40"}}},
		"units.parse_bytes":     {[]values{{"1e100000000"}, {strings.Repeat("9", 40000) + "Mi"}}, []values{{"10Gi"}, {"1e3k"}}},
		"walk":                  {[]values{{nested(2000)}}, []values{{texts(2000, "x")}}},
		"json.patch":            {[]values{{texts(100, "x"), copies(40)}}, []values{{texts(100, "x"), copies(2)}}},
		"graph.reachable_paths": {[]values{{complete(20), []any{"a"}}}, []values{{complete(5), []any{"a"}}}},
		"regex.replace":         {[]values{{mega, "a", strings.Repeat("b", 100)}, {mega, "a+", "$0$0$0$0$0$0$0$0$0"}}, []values{{mega, "b+", "c"}, {"abc", "b", "$0"}}},
		"regex.find_n":          {[]values{{"a", mega, number("-1")}}, []values{{"a+", mega, number("-1")}, {"a", mega, number("10")}}},
		"regex.split":           {[]values{{"a", mega}}, []values{{`\s+`, mega}}},
		"regex.globs_match":     {[]values{{strings.Repeat("a*", 20), strings.Repeat("*a", 20)}}, []values{{"a*b", "*b"}}},
		"glob.match":            {[]values{{strings.Repeat("*a", 20), nil, mega}}, []values{{"**/*.go", nil, "a/b.go"}, {"*password*", nil, mega}}},
		"net.cidr_contains_matches": {[]values{{texts(2000, "10.0.0.0/8"), texts(2000, "10.0.0.1")}},
			[]values{{texts(20, "10.0.0.0/8"), texts(2000, "10.0.0.1")}}},
		"io.jwt.encode_sign":             {[]values{{"{}", "{}", `{"d":"` + strings.Repeat("a", 20000)}}, []values{{"{}", "{}", `{"d": "x"}`}}},
		"crypto.x509.parse_certificates": {[]values{{mega}}, []values{{"-----BEGIN CERTIFICATE-----"}}},
		"graphql.parse":                  {[]values{{mega, ""}}, []values{{"{a {b c}}", "type Query {a: Int}"}}},
	} {
		b, ok := Of(name)
		if !assert.True(t, ok && b.Need != nil, name) {
			continue
		}
		for i, v := range cases.bombs {
			assert.Greater(t, b.Need(v), int64(Memory), "%s: bomb %d", name, i)
		}
		for i, v := range cases.rules {
			assert.LessOrEqual(t, b.Need(v), int64(Memory), "%s: rule %d", name, i)
		}
	}
}

// The distance of two numbers is that of math/big, but for what a float64 leaves
// out, and how often a step goes into it is right to one.
func TestRanged(t *testing.T) {
	some := []string{"0", "-0", "1", "-1", "7", "1e3", "1.5e1", "-2.75", "12345678901234567890", "9223372036854775807", "-9223372036854775808", "1e30", "1e-3",
		"999999999999999999999999999999", "1000000000000000000000000000000", "1000000000000000000000000000005", "-1000000000000000000000000000005", "5e29", "1.0000000001E+20", "100000000000000000000"}
	for _, from := range some {
		for _, to := range some {
			for _, step := range append(some, "") {
				args := values{number(from), number(to)}
				want := new(big.Int).Sub(big10(to), big10(from))
				want.Abs(want)
				if step != "" {
					args = append(args, number(step))
					if s := big10(step); s.Sign() > 0 {
						want.Quo(want, s)
					}
				}
				got := ranged(args)
				if !want.IsInt64() || want.Int64() >= exact {
					assert.Equal(t, int64(Never), got, "%s to %s by %s", from, to, step)
					continue
				}
				n := (got-Collection)/(Element+Scalar) - 1
				assert.InDelta(t, float64(want.Int64()), float64(n), 1+float64(n)*1e-9, "%s to %s by %s", from, to, step)
			}
		}
	}
}

func big10(text string) *big.Int {
	f, _, err := big.ParseFloat(text, 10, 256, big.ToZero)
	if err != nil {
		panic(err)
	}
	n, _ := f.Int(nil)
	return n
}

func nested(n int) any {
	v := any("x")
	for range n {
		v = []any{v}
	}
	return v
}

func copies(n int) any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"op": "copy", "from": "/0", "path": "/-"}
	}
	return out
}

// Match says what MatchString says, also when it is asked in between, and stops
// when it is told to.
func TestMatch(t *testing.T) {
	for _, pattern := range []string{`b$`, `^a`, `(a|é)+b`, `c`, `\bb\b`, `(?s)^.*$`, `(?m)^b$`} {
		re := regexp.MustCompile(pattern)
		for _, s := range []string{"", "b", strings.Repeat("a", 9000) + "b", strings.Repeat("é", 5000) + "\nb", "a\xff" + strings.Repeat("x", 5000)} {
			got, stopped := Match(re, s, func() bool { return false })
			assert.Equal(t, []any{re.MatchString(s), false}, []any{got, stopped}, "%s in %d", pattern, len(s))
		}
	}
	matched, stopped := Match(regexp.MustCompile(`x+$`), strings.Repeat("x", 1<<20), func() bool { return true })
	assert.Equal(t, []any{false, true}, []any{matched, stopped})
}

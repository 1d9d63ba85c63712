package tree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines are findings as line:col code text; hint.
func lines(found diag.List) []string {
	var out []string
	for _, d := range found {
		line, col := d.Span.Position()
		text := fmt.Sprintf("%d:%d %s %s", line, col, d.Code.ID, d.Text)
		if d.Hint != "" {
			text += "; " + d.Hint
		}
		out = append(out, text)
	}
	return out
}

func TestTreeFindings(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", nil},
		{"comments only", "# a\n\n# b\n", nil},
		{"byte order mark only", "\ufeff", nil},
		{"duplicate key", "a: 1\nb: 2\na: 3\n", []string{`3:1 HK003 key "a" is written twice; first at 1:1; keep one of the two`}},
		{"duplicate key in flow", "x: {b: 2, \"b\": 1}\n", []string{`1:11 HK003 key "b" is written twice; first at 1:5; keep one of the two`}},
		{"tab", "a:\n\tb: c\n", []string{"2:1 HK002 a tab in the indentation; indent with spaces: YAML takes no tabs"}},
		{"tab before a dash", "a:\n  - b: c\n\t- d: e\n", []string{"3:1 HK002 a tab in the indentation; indent with spaces: YAML takes no tabs"}},
		{"tab in the middle", "a:\n  - b: c\n    d:\n    \t- f\n", []string{"4:5 HK002 a tab in the indentation; indent with spaces: YAML takes no tabs"}},
		{"colon in a value", "a:\n  b: c: d\n", []string{`2:3 HK002 mapping values are not allowed in this context; put a value that holds ": " in quotes`}},
		{"indentation", "a:\n  b: 1\n c: 2\n", []string{"3:2 HK002 did not find expected key; check the indentation, and the quotes of the line above"}},
		{"indentation of a list", "a: 1\nx:\n  - b\n  - c\n d\n", []string{"5:2 HK002 did not find expected key; check the indentation, and the quotes of the line above"}},
		{"after a quoted text of lines", "a: 'x\n  y\n  z'\nb:\n  c: 1\n d: 2\n", []string{"6:2 HK002 did not find expected key; check the indentation, and the quotes of the line above"}},
		{"at sign", "a:\n  b: @c\n", []string{"2:3 HK002 found character that cannot start any token; put a value that begins with @, ` or % in quotes"}},
		{"open quote", "a: 1\nb: 'c\nd: e\n", []string{"2:1 HK002 found unexpected end of stream; a quote is not closed"}},
		{"open bracket", "a: [b, c\nd: e\n", []string{"1:1 HK002 did not find expected ',' or ']'; a comma, a quote or a closing bracket is missing, or a value with special characters needs quotes"}},
		{"escape", "a: 1\nb: \"\\d\"\n", []string{`2:1 HK002 found unknown escape character; in double quotes a backslash is written \\; single quotes take it as it is`}},
		{"unknown anchor", "a: *b\n", []string{"1:1 HK002 unknown anchor 'b' referenced; define the anchor with & before it is used; a value that begins with * needs quotes"}},
		{"glob", "a: *.go\n", []string{"1:1 HK002 did not find expected alphabetic or numeric character; a value that begins with * or & needs quotes"}},
		{"second document", "a: 1\n---\nb: 2\n", []string{"2:1 HK016 a second document begins here; one file holds one policy: put the second into its own file and include it"}},
		{"empty second document", "a: 1\n---\n", nil},
		{"not UTF-8", "a: b\nc: \xff\n", []string{"2:4 HK016 byte 0xff is not UTF-8; save the file as UTF-8"}},
		{"UTF-16", "\xff\xfea\x00", []string{"1:1 HK016 byte 0xff is not UTF-8; save the file as UTF-8"}},
		{"control character", "a: \x01\n", []string{"1:4 HK016 the character U+0001 may not stand in a text file; write it as an escape in double quotes"}},
		{"tag", "a: !x b\n", []string{"1:4 HK016 the tag !x means nothing here; write the value without a tag"}},
		{"tag on a map", "a: !x {b: c}\n", []string{"1:4 HK016 the tag !x means nothing here; write the value without a tag"}},
		{"known tag", "a: !!str 5\nb: !!map {}\n", nil},
		{"key that is no text", "[a, b]: c\n", []string{"1:1 HK007 a key must be text; this is a list"}},
		{"merge key", "a: &x {b: 1}\nc: {<<: *x, d: 2}\n", nil},
		{"merge of no map", "a: &x 5\nc: {<<: *x}\n", []string{"1:7 HK007 << takes a map or a list of maps; this is a number"}},
		{"alias in itself", "a: &x [b, *x]\n", []string{`1:11 HK004 alias "x" means a value that holds the alias itself`}},
		{"50 levels", "a: " + deep(50) + "\n", nil},
		{"101 levels", "a: " + deep(101) + "\n", []string{"1:104 HK004 nested deeper than 100 levels"}},
		{"20,000 levels", "a: " + deep(20000) + "\n", []string{"1:1 HK002 exceeded max depth of 10000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := ParseYAML(diag.NewSource("t.yaml", c.text), 0, len(c.text))
			assert.Equal(t, c.want, lines(found))
		})
	}
}

func TestAliasExpansionIsCapped(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	root, found := ParseYAML(diag.NewSource("t.yaml", b.String()), 0, b.Len())
	assert.Nil(t, root)
	assert.Equal(t, []string{`5:25 HK004 the aliases up to "a3" mean more than 50000 values`}, lines(found))
}

func TestMergeKeys(t *testing.T) {
	n := parse(t, "a: &x {b: 1, c: 1}\nd: &y {c: 2, e: 2}\nf: {c: 3, <<: [*x, *y]}\n")
	assert.Equal(t, map[string]any{"c": 3, "b": 1, "e": 2}, n.Get("f").Value())
}

func TestValue(t *testing.T) {
	n := parse(t, "{i: 5, h: 0x10, f: 2.50, e: 1e400, t: true, y: yes, n: ~, s: 'x', d: 2024-01-02, l: [1, a], m: {}, u: 1_000, inf: .inf}\n")
	assert.Equal(t, map[string]any{"i": 5, "h": 16, "f": json.Number("2.50"), "e": "1e400", "t": true, "y": "yes", "n": nil, "s": "x",
		"d": "2024-01-02", "l": []any{1, "a"}, "m": map[string]any{}, "u": 1000, "inf": ".inf"}, n.Value())
}

func TestJSONFindings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", " \n", nil},
		{"byte order mark", "\ufeff{}", nil},
		{"duplicate key", "{\"a\": 1,\n \"a\": 2}", []string{`2:2 HK003 key "a" is written twice; first at 1:2; keep one of the two`}},
		{"comment", "{\n// a\n}", []string{"2:1 HK002 not JSON: a key in double quotes belongs here"}},
		{"comment before a value", "[/* a */ 1]", []string{"1:2 HK002 not JSON: JSON has no comments"}},
		{"trailing comma", `{"a": 1,}`, []string{"1:9 HK002 not JSON: a key in double quotes belongs here"}},
		{"trailing comma in a list", `[1,]`, []string{"1:4 HK002 not JSON: a value cannot begin with ']'"}},
		{"single quotes", `['a']`, []string{"1:2 HK002 not JSON: text stands in double quotes"}},
		{"open string", `["a`, []string{"1:2 HK002 not JSON: a string that is not closed"}},
		{"open object", `{"a": `, []string{"1:7 HK002 not JSON: it ends before the value does"}},
		{"no colon", `{"a" 1}`, []string{"1:6 HK002 not JSON: a colon belongs here"}},
		{"bad escape", `["a\x41"]`, []string{"1:4 HK002 not JSON: not an escape"}},
		{"number", `[01]`, []string{"1:2 HK002 not JSON: 01 is not a number"}},
		{"control character", "[\"a\nb\"]", []string{"1:4 HK002 not JSON: a control character stands in a string unescaped"}},
		{"not UTF-8", "[\"\xff\"]", []string{"1:3 HK002 not JSON: byte 0xff is not UTF-8"}},
		{"more text", "{} {}", []string{"1:4 HK002 not JSON: text after the end of the value"}},
		{"50 levels", strings.Repeat("[", 50) + strings.Repeat("]", 50), nil},
		{"200 levels", strings.Repeat("[", 200), []string{"1:102 HK004 nested deeper than 100 levels"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := ParseJSON(diag.NewSource("t.json", c.text))
			assert.Equal(t, c.want, lines(found))
		})
	}
}

func TestJSONText(t *testing.T) {
	text := `{"k": "a\n\u00e9\ud83d\ude00\/é TOKEN"}`
	n, found := ParseJSON(diag.NewSource("t.json", text))
	require.Empty(t, found)
	x := n.Get("k").Text
	assert.Equal(t, "a\né😀/é TOKEN", x.Value)
	at := strings.Index(x.Value, "TOKEN")
	assert.Equal(t, strings.Index(text, "TOKEN"), offset(x, at))
	assert.Equal(t, strings.Index(text, `\ud83d`), offset(x, strings.Index(x.Value, "😀")+3))
}

// FuzzJSON compares the reader with the standard library's strict one.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a": [1, -0.5e3, "b\u00e9\ud800\n", true, false, null]}`, `[`, `{"a":1,"a":2}`, ` "x" `, `[1,]`, `{"a":{"b":{}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, found := ParseJSON(diag.NewSource("t.json", text))
		want, err := policy.DecodeJSON([]byte(text))
		if root == nil || found != nil {
			for _, d := range found {
				require.GreaterOrEqual(t, d.Span.End, d.Span.Start)
			}
			return
		}
		if strings.HasPrefix(text, "\ufeff") {
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, root.Value())
	})
}

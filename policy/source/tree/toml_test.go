package tree

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/diag"
)

func TestTOMLValues(t *testing.T) {
	root, found := ParseTOML(diag.NewSource("config.toml", `model = "m" # a comment
n = 1_000
f = 1.5
on = true
at = 1979-05-27
"quoted key" = 'lit\eral'
list = [1, [2, "x"], {a = 1, b.c = 2}]

[table]
x.y = 1
[table.x.z]
deep = true

[[hooks]]
event = "A"
[[hooks]]
event = "B"
[hooks.more]
k = """
a
b"""
`))
	require.Empty(t, found)
	assert.Equal(t, map[string]any{
		"model": "m", "n": 1000, "f": 1.5, "on": true, "at": "1979-05-27", "quoted key": `lit\eral`,
		"list":  []any{1, []any{2, "x"}, map[string]any{"a": 1, "b": map[string]any{"c": 2}}},
		"table": map[string]any{"x": map[string]any{"y": 1, "z": map[string]any{"deep": true}}},
		"hooks": []any{map[string]any{"event": "A"}, map[string]any{"event": "B", "more": map[string]any{"k": "a\nb"}}},
	}, root.Value())
}

func TestTOMLPlaces(t *testing.T) {
	src := diag.NewSource("config.toml", "\ufeffa = 1\n[[hooks]]\ncommand = '''\nexit 2'''\nname = \"tab\\there\"\n")
	root, found := ParseTOML(src)
	require.Empty(t, found)
	command := root.Get("hooks").Items[0].Get("command")
	assert.Equal(t, "config.toml:3:11", command.Span.String())
	assert.Equal(t, "exit 2", command.Text.Value)
	assert.Equal(t, "config.toml:4:6", command.Text.At(5, 6).String(), "the 2 of exit 2")
	name := root.Get("hooks").Items[0].Get("name")
	assert.Equal(t, "tab\there", name.Text.Value)
	assert.Equal(t, "config.toml:5:8", name.Text.At(0, 3).String())
}

func TestTOMLFindings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		none       bool
	}{
		{"empty", "", nil, false},
		{"a key twice", "a = 1\na = 2\n", []string{`2:1 HK003 key "a" is written twice; first at 1:1; keep one of the two`}, false},
		{"a table twice", "[a]\nx = 1\n[a]\ny = 2\n", []string{`3:2 HK003 key "a" is written twice; first at 1:2; keep one of the two`}, false},
		{"a table over a list", "[[a]]\n[a]\n", []string{`2:2 HK003 key "a" is written twice; first at 1:3; keep one of the two`}, false},
		{"a list over a value", "a = [1]\n[[a]]\n", []string{`2:3 HK003 key "a" is written twice; first at 1:1; keep one of the two`}, false},
		{"into a value", "a = 1\n[a.b]\n", []string{`2:2 HK002 not TOML: "a" is no table`}, true},
		{"no value", "a = \nb = 1\n", []string{"1:5 HK002 not TOML: unexpected character U+000A at start of value"}, true},
		{"not UTF-8", "a = \"\xff\"\n", []string{"1:6 HK016 byte 0xff is not UTF-8; save the file as UTF-8"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, found := ParseTOML(diag.NewSource("x.toml", c.text))
			assert.Equal(t, c.want, lines(found))
			assert.Equal(t, c.none, root == nil)
		})
	}
}

// FuzzTOML: any bytes give a tree or a finding, and every place lies inside.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{"a = 1", "[[hooks]]\nevent = \"X\"\ncommand = '''x'''", "a.b = {c = [1, 2]}", "a = \"\\u00e9\"", "[a]\n[a.b]\n[[a.c]]", "a = [[[[[[", "\ufeffx = 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := diag.NewSource("x.toml", text)
		root, found := ParseTOML(src)
		if root == nil && len(found) == 0 {
			t.Fatal("no tree and nothing wrong")
		}
		var visit func(n *Node)
		visit = func(n *Node) {
			if n.Span.Start < 0 || n.Span.End > len(text) || n.Span.Start > n.Span.End {
				t.Fatalf("a place outside: %+v", n.Span)
			}
			for _, e := range n.Entries {
				visit(e.Key)
				visit(e.Value)
			}
			for _, item := range n.Items {
				visit(item)
			}
		}
		if root != nil {
			visit(root)
		}
	})
}

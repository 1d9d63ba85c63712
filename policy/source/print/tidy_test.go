package print

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTidy(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"indentation": {"a:\n- x: 1\n  y:   2\n-   z\nb:\n      c: d\n", "a:\n  - x: 1\n    y: 2\n  - z\nb:\n  c: d\n"},
		"comments": {`# head

# of a
a: 1   # line
# of b

b:
    # of c
    c: 2

    # foot
`, `# head

# of a
a: 1   # line
# of b

b:
  # of c
  c: 2

# foot
`},
		"quotes":      {"a: 'x'\nb: 'say \"x\"'\nc: \"it's\"\nd: \"\\\"\\n\"\ne: 'a\\b'\nf: plain\n", "a: \"x\"\nb: 'say \"x\"'\nc: \"it's\"\nd: \"\\\"\\n\"\ne: 'a\\b'\nf: plain\n"},
		"flow":        {"a: {x: 1,   y: [1,2]}\nb: {x: 1,\n    y: [1,2]}\nc: []\nd: {\n}\n", "a: {x: 1, y: [1, 2]}\nb:\n  x: 1\n  y: [1, 2]\nc: []\nd: {}\n"},
		"empty lines": {"\n\na: 1\n\n\n\nb:\n\n  - x\n  - y\n\n  - z\n\n\n", "a: 1\n\nb:\n\n  - x\n  - y\n\n  - z\n"},
		"opened":      {"a:\n  - {x: 1}\n\n  - {x: 2,\n     y: 3}\n", "a:\n  - {x: 1}\n\n  - x: 2\n    y: 3\n"},
		"anchors":     {"a: &x {k: 1}\nb:\n      <<: *x\n      l: *x\n", "a: &x {k: 1}\nb:\n  <<: *x\n  l: *x\n"},
		"block text":  {"a: |\n    one\n\n\n      two\nb: >-\n   x\n   y\n", "a: |\n  one\n\n\n    two\nb: >-\n  x\n  y\n"},
		"folded": {"a:\n    - b: >\n            one\n            two\n\n            three\n      # of c\n      c: >+\n        x\n        y\n\nd: 1\n",
			"a:\n  - b: >\n      one\n      two\n\n      three\n    # of c\n    c: >+\n      x\n      y\n\nd: 1\n"},
		"commented out": {"a:\n  - {x: 1}\n  # - {x: 2}\n  - {x: 3}\n  # - {x: 4}\nb: 1\n", "a:\n  - {x: 1}\n  # - {x: 2}\n  - {x: 3}\n  # - {x: 4}\nb: 1\n"},
		"nothing":       {"# alone\n", "# alone\n"},
		"empty":         {"", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Tidy("hooks.yaml", []byte(c.in))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
			again, err := Tidy("hooks.yaml", got)
			require.NoError(t, err)
			assert.Equal(t, string(got), string(again))
		})
	}
}

func TestTidyHookMD(t *testing.T) {
	got, err := Tidy("a/HOOK.md", []byte("---\nname:   x\nmatcher:\n    tool: 'Bash'\n---\n# Text\n\n\n* stays:   as it is\n"))
	require.NoError(t, err)
	assert.Equal(t, "---\nname: x\nmatcher:\n  tool: \"Bash\"\n---\n# Text\n\n\n* stays:   as it is\n", string(got))
}

func TestTidyRefuses(t *testing.T) {
	for name, text := range map[string]string{"hooks.yaml": "a: [1\n", "HOOK.md": "# no fields\n"} {
		_, err := Tidy(name, []byte(text))
		assert.Error(t, err)
	}
}

// TestTidyNoticesWhatIsLost: the comparison that stands behind the promise.
func TestTidyNoticesWhatIsLost(t *testing.T) {
	for _, c := range [][2]string{{"a: 1", "a: 2"}, {"a: 1", "a: \"1\""}, {"a: &x 1", "a: 1"}, {"a: 1 # c", "a: 1"}, {"[a, b]", "[a]"}} {
		assert.NoError(t, sameYAML(c[0], c[0]))
		assert.Error(t, sameYAML(c[0], c[1]), "%q", c)
	}
}

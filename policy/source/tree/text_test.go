package tree

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/diag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parse reads a YAML text that must be without findings.
func parse(t *testing.T, text string) *Node {
	t.Helper()
	n, found := ParseYAML(diag.NewSource("t.yaml", text), 0, len(text))
	require.Empty(t, found.Render())
	require.NotNil(t, n)
	return n
}

// offset is where byte i of a text was written.
func offset(x diag.Text, i int) int { return x.At(i, i+1).Start }

func TestTextStyles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"literal", "k: |\n  one\n    two TOKEN\n\n  three\n", "one\n  two TOKEN\n\nthree\n"},
		{"literal strip", "k: |-\n  one\n  TOKEN\n\n", "one\nTOKEN"},
		{"literal keep", "k: |+\n  TOKEN\n\n\n", "TOKEN\n\n\n"},
		{"literal indicator", "k: |1\n   one\n  TOKEN\n", "  one\n TOKEN\n"},
		{"literal indicator and chomp", "k: |-2\n    one\n  TOKEN\n", "  one\nTOKEN"},
		{"literal comment", "k: | # why\n  one\n  TOKEN\n", "one\nTOKEN\n"},
		{"literal blank lines first", "k: |\n\n\n  TOKEN\n", "\n\nTOKEN\n"},
		{"literal nested", "a:\n  - b:\n      - k: |2\n           one\n          TOKEN\n", ""},
		{"literal with tab", "k: |\n  one\n  \tTOKEN\t\n", "one\n\tTOKEN\t\n"},
		{"literal no final break", "k: |\n  one\n  TOKEN", "one\nTOKEN"},
		{"literal utf8", "k: |\n  审查 é\n  TOKEN\n", "审查 é\nTOKEN\n"},
		{"folded", "k: >\n  one\n  two TOKEN\n\n  three\n", "one two TOKEN\nthree\n"},
		{"folded more indented", "k: >\n  one\n    two\n  TOKEN\n  four\n\n", "one\n  two\nTOKEN four\n"},
		{"folded blank lines", "k: >-\n  one\n\n\n  TOKEN\n  x\n", "one\n\nTOKEN x"},
		{"single", "k: 'it''s a TOKEN'\n", "it's a TOKEN"},
		{"single folded", "k: 'one  \n\n   two\n  TOKEN'\n", "one\ntwo TOKEN"},
		{"single folded without indentation", "{k: 'one\n\ntwo\nTOKEN'}\n", "one\ntwo TOKEN"},
		{"double", `k: "a\tb\u00e9\x41\U0001F600\N\_\L\P\"\\ TOKEN"` + "\n", "a\tb\u00e9A\U0001F600\u0085\u00a0\u2028\u2029\"\\ TOKEN"},
		{"double folded", "k: \"one  \n   two\n\n\n  TOKEN\"\n", "one two\n\nTOKEN"},
		{"double continued", "k: \"one \\\n   \\  two\\\n  TOKEN\"\n", "one   twoTOKEN"},
		{"plain", "k: one TOKEN # comment\n", "one TOKEN"},
		{"plain several lines", "k: one\n  two\n\n  TOKEN\n", "one two\nTOKEN"},
		{"plain in flow", "{k: one TOKEN, b: c}\n", "one TOKEN"},
		{"plain in flow, lines", "{k: one\n  TOKEN, b: c}\n", "one TOKEN"},
		{"anchored", "k: &a !!str\n  one TOKEN\n", "one TOKEN"},
		{"anchored, next line", "k: &a # comment\n  |\n   one\n   TOKEN\n", "one\nTOKEN\n"},
		{"carriage returns only", "a: b\rk: |\r  one\r  TOKEN\r", "one\nTOKEN\n"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%s %q", c.name, end), func(t *testing.T) {
				text := strings.ReplaceAll(c.text, "\n", end)
				n := find(parse(t, text), "k")
				require.NotNil(t, n)
				if c.want != "" {
					assert.Equal(t, c.want, n.Text.Value)
				}
				at := strings.Index(n.Text.Value, "TOKEN")
				require.GreaterOrEqual(t, at, 0)
				start := strings.Index(text, "TOKEN")
				assert.Equal(t, diag.Span{Source: n.Span.Source, Start: start, End: start + 5}, n.Text.At(at, at+5))
				require.Empty(t, wrongMark(text, n.Text))
			})
		}
	}
}

// find returns the first value with the given key in a tree.
func find(n *Node, key string) *Node {
	if v := n.Get(key); v != nil {
		return v
	}
	for _, item := range n.Items {
		if v := find(item, key); v != nil {
			return v
		}
	}
	for _, e := range n.Entries {
		if v := find(e.Value, key); v != nil {
			return v
		}
	}
	return nil
}

func TestTextAlias(t *testing.T) {
	text := "a: &x |\n  one\n  TOKEN\nb: *x\n"
	n := parse(t, text)
	b := n.Get("b")
	assert.Equal(t, "one\nTOKEN\n", b.Text.Value)
	assert.Equal(t, strings.Index(text, "TOKEN"), offset(b.Text, 4))
	line, col := b.Text.AtLineCol(2, 3).Position()
	assert.Equal(t, [2]int{3, 5}, [2]int{line, col})
}

func TestTextBOM(t *testing.T) {
	text := "\ufeffk: \"a TOKEN\"\n"
	n := parse(t, text)
	assert.Equal(t, strings.Index(text, "TOKEN"), offset(n.Get("k").Text, 2))
}

// wrongMark re-derives every byte of a text from the byte its mark points at
// and says where the two differ.
func wrongMark(source string, x diag.Text) string {
	for i := 0; i < len(x.Value); {
		r, w := utf8.DecodeRuneInString(x.Value[i:])
		at := offset(x, i)
		if at < 0 || at >= len(source) {
			return fmt.Sprintf("byte %d: mark %d is outside the source", i, at)
		}
		switch wrote := source[at:]; {
		case strings.HasPrefix(wrote, string(r)):
			// Every further byte of a character stands after the one before.
			for k := 1; k < w; k++ {
				if offset(x, i+k) != at+k {
					return fmt.Sprintf("byte %d of %q is not beside its first", i+k, r)
				}
			}
		case strings.HasPrefix(wrote, `\`):
			if got, ok := unescape(wrote); !ok || got != r {
				return fmt.Sprintf("byte %d: %q was not written by %.10q", i, r, wrote)
			}
		case r == ' ' || r == '\n':
			if b, v := breakAt(source, at); b == 0 || r == '\n' && v != "\n" {
				return fmt.Sprintf("byte %d: %q was not written by %.10q", i, r, wrote)
			}
		default:
			return fmt.Sprintf("byte %d: %q was not written by %.10q", i, r, wrote)
		}
		i += w
	}
	return ""
}

// unescape is what one escape of a double-quoted scalar stands for, by another
// road than the code under test.
func unescape(s string) (rune, bool) {
	n, digits := 2, 0
	switch s[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	}
	var r rune
	if digits > 0 {
		_, err := fmt.Sscanf(s[n:n+digits], "%x", &r)
		return r, err == nil
	}
	simple := map[byte]rune{'0': 0, 'a': 7, 'b': 8, 't': 9, '\t': 9, 'n': 10, 'v': 11, 'f': 12, 'r': 13, 'e': 27, ' ': ' ',
		'"': '"', '\'': '\'', '\\': '\\', 'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029}
	r, ok := simple[s[1]]
	return r, ok
}

// scalars lists every scalar of a tree once, keys included.
func scalars(n *Node, seen map[*Node]bool) []*Node {
	if seen[n] {
		return nil
	}
	seen[n] = true
	if n.Shape == Scalar {
		return []*Node{n}
	}
	var out []*Node
	for _, item := range n.Items {
		out = append(out, scalars(item, seen)...)
	}
	for _, e := range n.Entries {
		out = append(append(out, scalars(e.Key, seen)...), scalars(e.Value, seen)...)
	}
	return out
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"k: |\n  one\n    two\n\n  three\n", "k: >2+\n    one\n\n  two\n", "k: 'it''s\n\n  me'\n", `k: "a\x41\` + "\n" + `  b"`,
		"- a\n  b\n- &x c: *x\n", "? |\n  k\n: - >-\n   v\n   w\n", "\ufeffa: b\r\n- c\r", "--- !!str &a\n# c\n'x'\n...\n", "{a: [b, 'c', \"d\"],\n e: f\n g}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, _ := ParseYAML(diag.NewSource("t.yaml", text), 0, len(text))
		if root == nil {
			return
		}
		for _, n := range scalars(root, map[*Node]bool{}) {
			if n.Text.Value == "" {
				continue
			}
			require.NotEqual(t, n.Text, diag.NewText(n.Text.Value, n.Span, nil), "no marks for %q", n.Text.Value)
			require.Empty(t, wrongMark(text, n.Text), "%q", n.Text.Value)
			require.LessOrEqual(t, n.Span.End, len(text))
		}
	})
}

package guard

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// everyday expands the templates of everyday.txt.
func everyday(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("everyday.txt")
	require.NoError(t, err)
	var out []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, c := range expand(line) {
			c = strings.ReplaceAll(c, `\nEOF`, "\nEOF")
			c = strings.Replace(c, `<<'EOF'\n`, "<<'EOF'\n", 1)
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// expand writes out the choices of a template. A choice in which two bars
// follow each other, as in `||`, keeps one of them as an empty choice would be
// no use.
func expand(line string) []string {
	head, rest, ok := strings.Cut(line, "«")
	if !ok {
		return []string{line}
	}
	choice, tail, _ := strings.Cut(rest, "»")
	var out []string
	for _, end := range expand(tail) {
		for _, c := range choices(choice) {
			out = append(out, head+c+end)
		}
	}
	return out
}

// choices splits at bars that are not part of a pipe, which has spaces around
// it or another bar beside it, and not quoted.
func choices(text string) []string {
	var out []string
	from := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '|' && strings.HasPrefix(text[i:], "||"):
			i++
		case c == '|' && !(i > 0 && text[i-1] == ' ' && strings.HasPrefix(text[i+1:], " ")):
			out = append(out, text[from:i])
			from = i + 1
		}
	}
	return append(out, text[from:])
}

// TestEveryday: what agents run all day is never denied by any guard, with every
// pack on, and hardly ever asked about.
func TestEveryday(t *testing.T) {
	commands := everyday(t)
	require.GreaterOrEqual(t, len(commands), 2000)
	for use, options := range map[string][]policy.Option{"shell-guard": {option("packs", "all")}, "path-guard": nil, "secret-guard": nil} {
		g := guard(t, use, options...)
		asked := 0
		for _, c := range commands {
			r := decide(t, g, c, root)
			assert.NotEqual(t, policy.Deny, r.Verdict, "%s %q: %s", use, c, told(r))
			if r.Verdict == policy.Ask {
				asked++
				t.Logf("%s asks about %q: %s", use, c, told(r))
			}
		}
		t.Logf("%s: %d commands, %d asked about", use, len(commands), asked)
		assert.LessOrEqual(t, asked, len(commands)/200)
	}
}

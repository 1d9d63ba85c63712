package native

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExpression: what is known of a pattern before it is compiled.
func TestExpression(t *testing.T) {
	for pattern, want := range map[string]string{
		`rm\s+-rf`: "-rf", `(^|\s)cmd\s+(-[a-z]*f|--force)\b`: "cmd", `curl .*\| *(ba)?sh`: "curl ", `git\.exe`: "git.exe", `abc*`: "ab", `abc+d`: "abc", `abc?d+?e`: "ab",
		`(?i)drop\s+table`: "", `a|b`: "", `(a|b)c`: "c", `[a-z]+`: "", `^$`: "", ``: "", `x[^-\s.]y`: "x", `(?:a)b`: "b", `\bsudo\b`: "sudo", `a.b`: "a",
	} {
		s := skimmer{rest: pattern}
		assert.True(t, s.skim(), pattern)
		assert.Equal(t, want, string(s.best), pattern)
	}
	for _, pattern := range []string{`a{2}`, `\Qa\E`, `é`, `(?s)a`, `(?P<n>a)`, `a**`, `*`, `(`, `)`, `[`, `[]a]`, `[z-a]`, `[[:alpha:]]`, `[a`, `\`, `[\`, `a)`, `(a`, `(?`, `\x41`, `[a-\d]`, `\pL`, "a\x00", `(*)`, `a|*`, `^*`} {
		s := skimmer{rest: pattern}
		assert.False(t, s.skim(), pattern)
		_, err := regexp.Compile(pattern)
		assert.Equal(t, err == nil, newExpression(pattern) != nil, pattern)
	}
}

// TestExpressionRandom: a pattern that is understood is one, and an expression
// matches what regexp matches.
func TestExpressionRandom(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 4))
	parts := strings.Split(`a b c - . * + ? | ( ) (?: (?i) [ ] [^ ^ $ \s \d \b \. \- \| { } a-c - \\ rm "`, " ")
	text := func(from []string, n int) string {
		var out strings.Builder
		for range n {
			out.WriteString(from[g.IntN(len(from))])
		}
		return out.String()
	}
	understood, matched := 0, 0
	for range 60000 {
		pattern := text(parts, 1+g.IntN(8))
		re, err := regexp.Compile(pattern)
		s := skimmer{rest: pattern}
		if s.skim() {
			understood++
			require.NoError(t, err, "%q is understood", pattern)
		}
		e := newExpression(pattern)
		require.Equal(t, err == nil, e != nil, "%q", pattern)
		for range 4 {
			if e == nil {
				break
			}
			line := text([]string{"a", "b", "c", "A", " ", "-", ".", "rm", "1", "|", "\"", "\\", "\n"}, g.IntN(8))
			if re.MatchString(line) {
				matched++
			}
			require.Equal(t, truth(re.MatchString(line)), e.match(line), "%q in %q", pattern, line)
		}
	}
	assert.Greater(t, understood, 5000)
	assert.Greater(t, matched, 5000)
}

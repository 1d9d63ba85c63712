package build

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/gate/table"
)

// TestAutomaton: an automaton finds what the expression does, in every text of
// ASCII, and takes any other for a match.
func TestAutomaton(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const alphabet = "abAB01_ -/.\n\tgitrm"
	for _, text := range []string{`a`, `^a`, `a$`, `^a$`, `\ba\b`, `\Ba`, `(?m)^a$`, `(?m)^$`, `a|^b|c$`, `(?i)git`, `[^a-z]`, `^git +(push|rm)\b`, `a.b`, `(?s)a.b`, `(ab)+$`,
		`\d{2,3}`, `^[A-Z]\w*$`, `\brm\b.*\s-`, `x?`, `^$`, `a\z`, `\A_`, `(a|b)*1`, `é`, `[^é]`, `.`} {
		re, b := regexp.MustCompile(text), &builder{}
		dfa := b.automaton(text)
		require.NotNil(t, dfa, text)
		for range 3000 {
			var s strings.Builder
			for range r.IntN(12) {
				s.WriteByte(alphabet[r.IntN(len(alphabet))])
			}
			require.Equal(t, re.MatchString(s.String()), table.Match(dfa, s.String()), "%s on %q", text, s.String())
		}
		assert.True(t, table.Match(dfa, "é") || re.MatchString(""), text)
	}
	assert.Nil(t, (&builder{}).automaton(`(a|b)*a(a|b){12}`), "too many states")
	assert.Nil(t, (&builder{automata: maxAutomata}).automaton(`a`))
}

package conditions

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/tests/depth"
)

// TestGlobs: the automaton of a glob says of each text what OPA says.
func TestGlobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 2))
	some := func(most int, of ...string) string {
		var b strings.Builder
		for range rng.IntN(most) {
			b.WriteString(of[rng.IntN(len(of))])
		}
		return b.String()
	}
	reader, understood := &Reader{}, 0
	for range depth.Of(20000) {
		glob := some(6, "a", "b", "/", ".", "*", "**", "?", "[ab]", "[!a]", "[a-c]", "[!a-b]", "[a!]", "[^a]", "{a,b}", "{a*,b/}", "{,a}", "{**/,}", `\*`, `\`, "!", "-", "^", "[", "]", "{", "}", ",")
		separators := []string{"/", ".", "./"}[rng.IntN(3)]
		l, err := solve.GlobOf(glob, separators)
		if err != nil {
			continue
		}
		understood++
		list := []any{}
		for _, s := range separators {
			list = append(list, string(s))
		}
		for range 20 {
			text := some(6, "a", "b", "/", ".", "c", "*", "!", "^", "-", `\`, ",", "[", "]", "{", "}")
			is, known := reader.folded("glob.match", []*solve.Term{solve.Const(glob), solve.Const(list), solve.Const(text)})
			if !known || is == nil {
				continue
			}
			v, _ := is.Constant()
			require.Equal(t, v, l.Has(text), "%q of %q on %q", glob, separators, text)
		}
	}
	require.Greater(t, understood, 100)
}

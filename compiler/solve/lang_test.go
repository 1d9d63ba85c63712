package solve

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var patterns = []string{`rm\s+-rf`, `^git push`, `\bmain\b`, `(?i)drop\s+table`, `$rm^`, `\Bx\B`, `^$`, `(?m)^a$`, `[^a-z]+$`, `a{2,4}b?`, `(?s).+`, `\d+(\.\d+)?$`,
	`^(ls|cat) [^/]*$`, ``, `[[:upper:]]`, `é|ß`, `\.env(\.|$)`, `(a|b)*abb`, `^\s*$`, "\brm\b", `(?i)ſ`, `x*`, `\Aab\z`, `a\nb`, `[\x{10000}-\x{10ffff}]`}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(8) {
		b.WriteString([]string{"a", "b", "x", "rm", " ", "-rf", "\n", "main", "git push", "é", "\u212a", "A", "_", "1", ".env", ".", "DROP", "table", "\b", "ſ", "s", "\U00010400"}[rng.IntN(22)])
	}
	return b.String()
}

// TestLang: an automaton says of each text what the expression says.
func TestLang(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i, p := range patterns {
		re, l := regexp.MustCompile(p), must(t, p)
		q := patterns[(i+7)%len(patterns)]
		re2, l2 := regexp.MustCompile(q), must(t, q)
		both, either, seq := l.And(l2), l.Or(l2), l.Then(Words("-", "--x"))
		lower, rest := l.Before(unicode.ToLower), l.After("a", "b ")
		for range 400 {
			s := randomText(rng)
			is, is2 := re.MatchString(s), re2.MatchString(s)
			require.Equal(t, is, l.Has(s), "%q %q", p, s)
			require.Equal(t, !is, l.Not().Has(s))
			require.Equal(t, is && is2, both.Has(s))
			require.Equal(t, is || is2, either.Has(s))
			require.Equal(t, is, seq.Has(s+"-") && seq.Has(s+"--x"))
			require.Equal(t, re.MatchString(strings.ToLower(s)), lower.Has(s))
			require.Equal(t, re.MatchString("a"+s+"b "), rest.Has(s))
		}
		for _, s := range l.Examples(5) {
			require.True(t, re.MatchString(s), "%q %q", p, s)
		}
	}
	require.True(t, must(t, `$rm^`).Empty())
	require.True(t, must(t, `a\b[a-z]`).Empty())
	require.True(t, must(t, `^a`).And(must(t, `^b`)).Empty())
	require.False(t, must(t, `^`).Empty())
	require.Equal(t, []string{"git push"}, must(t, `^git push`).Examples(1))
	_, err := Matching(`(a|b)*a(a|b){15}`)
	require.ErrorIs(t, err, ErrTooLarge)
}

func must(t *testing.T, pattern string) *Lang {
	t.Helper()
	l, err := Matching(pattern)
	require.NoError(t, err, pattern)
	return l
}

// TestSmaller: the texts that are less than one are those that Go finds less.
func TestSmaller(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		than := randomText(rng)
		l := smaller(than)
		for range 100 {
			s := randomText(rng)
			require.Equal(t, s < than, l.Has(s), "%q %q", s, than)
		}
		require.False(t, l.Has(than))
		require.Equal(t, than != "", l.Has(""))
	}
}

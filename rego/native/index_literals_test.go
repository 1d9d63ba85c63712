package native

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wanted are the literals that a text holds, one after the other.
func wanted(list []string, holds func(literal string) bool) []int32 {
	var out []int32
	for i, literal := range list {
		if holds(literal) {
			out = append(out, int32(i))
		}
	}
	return out
}

// foundIn is what marks: each literal's item is its number.
func foundIn(find func(k *marks), n int) []int32 {
	var k marks
	k.room(n)
	find(&k)
	return k.drain(nil)
}

// checkLiterals compares all ways in which literals are found with package
// strings.
func checkLiterals(t *testing.T, list []string, text string) {
	t.Helper()
	var texts, small []string
	var items [][]int32
	have := map[string]bool{}
	for _, s := range list {
		if s != "" && !have[s] {
			have[s] = true
			items = append(items, []int32{int32(len(texts))})
			texts = append(texts, s)
		}
	}
	if len(texts) == 0 {
		return
	}
	small = make([]string, len(texts))
	for i, s := range texts {
		small[i] = asciiLower(s)
	}
	n := len(texts)
	where := fmt.Sprintf("%q in %q", texts, text)
	require.Equal(t, wanted(texts, func(s string) bool { return strings.Contains(text, s) }),
		foundIn(func(k *marks) { newLiterals(texts, items, false).find(text, k) }, n), where)
	require.Equal(t, wanted(texts, func(s string) bool { return strings.HasPrefix(text, s) }),
		foundIn(func(k *marks) { newAffixes(texts, items, false).find(text, k) }, n), where)
	require.Equal(t, wanted(texts, func(s string) bool { return strings.HasSuffix(text, s) }),
		foundIn(func(k *marks) { newAffixes(texts, items, true).find(text, k) }, n), where)
	folded := wanted(small, func(s string) bool { return strings.Contains(asciiLower(text), s) })
	if strings.ContainsAny(text, "\u017f\u212a") {
		folded = wanted(small, func(string) bool { return true })
	}
	require.Equal(t, folded, foundIn(func(k *marks) { newLiterals(small, items, true).find(text, k) }, n), where)
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func TestLiterals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		c := &chance{Rand: r}
		list := make([]string, 1+r.IntN(20))
		for i := range list {
			list[i] = c.text(1 + r.IntN(5))
		}
		checkLiterals(t, list, c.text(30))
	}
}

// TestLiteralsGiveUp: a text made so that everything is compared at each byte
// costs no more than a few comparisons a byte: all are found then.
func TestLiteralsGiveUp(t *testing.T) {
	var texts []string
	var items [][]int32
	for i := range 400 {
		texts = append(texts, strings.Repeat("a", 4+i)+"b")
		items = append(items, []int32{int32(i)})
	}
	n := newLiterals(texts, items, false)
	// Literals that are all of one gram share the last of theirs.
	text := strings.Repeat("aaab", 1000)
	require.Len(t, foundIn(func(k *marks) { n.find(text, k) }, 400), 400)
	require.Equal(t, []int32{0}, foundIn(func(k *marks) { n.find("xaaaab", k) }, 400))
}

func FuzzLiterals(f *testing.F) {
	f.Add("rm,rm -rf,-rf,curl,bash,sudo,x", "sudo rm -rf /")
	f.Add("a,b,ab,aba,bab,abab,aaaa,\xff", "ababab\xffaaaa")
	f.Add("\u212a,k,\u017f,s,é,Éa,日本", "\u212a\u017fé日本")
	f.Fuzz(func(t *testing.T, list, text string) { checkLiterals(t, strings.Split(list, ","), text) })
}

// TestNeeded: what a pattern needs, and that no text without it matches.
func TestNeeded(t *testing.T) {
	for pattern, want := range map[string]needed{
		`rm\s+-rf`:          {texts: []string{"-rf"}},
		`(?i)Drop Table`:    {texts: []string{"drop table"}, fold: true},
		`curl|wget`:         {texts: []string{"curl", "wget"}},
		`(curl|wget).*\|sh`: {texts: []string{"curl", "wget"}},
		`(?i:curl)|wget`:    {texts: []string{"curl", "wget"}, fold: true},
		`^/etc/`:            {texts: []string{"/etc/"}},
		`(abcd)+e{2}`:       {texts: []string{"abcd"}},
		`a*b?`:              {},
		`(abcd){0,3}`:       {},
		`[a-z]+`:            {},
		`x|[0-9]`:           {},
		`(?i)é`:             {},
		`a|(?i)éb`:          {texts: []string{"a", "b"}, fold: true},
		`é|(?i:b)c`:         {},
		"ab\ufffdcde":       {texts: []string{"cde"}},
		`(`:                 {},
	} {
		require.Equal(t, want, neededBy(pattern), pattern)
	}
	c := &chance{Rand: rand.New(rand.NewPCG(3, 4))}
	for _, pattern := range patterns {
		re, need := regexp.MustCompile(pattern), neededBy(pattern)
		for range 2000 {
			text := c.text(5)
			if !re.MatchString(text) || len(need.texts) == 0 {
				continue
			}
			n := newLiterals(need.texts, make([][]int32, len(need.texts)), need.fold)
			for i := range n.items {
				n.items[i] = []int32{int32(i)}
			}
			n.all = []int32{0}
			require.True(t, need.in(text), "%s in %q", pattern, text)
			require.NotEmpty(t, foundIn(func(k *marks) { n.find(text, k) }, len(need.texts)), "%s in %q", pattern, text)
		}
	}
}

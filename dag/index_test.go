package dag

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whatever the texts have in common, a Finder lists exactly the nodes whose
// texts a name is, begins with or ends with, and those that are always listed.
func TestFinderListsWhatANameHas(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		word := func(most int) string {
			var b strings.Builder
			for range r.IntN(most + 1) {
				b.WriteByte("ab_"[r.IntN(3)])
			}
			return b.String()
		}
		x := Index{Exact: map[string][]int{}}
		type held struct {
			text string
			has  func(string, string) bool
		}
		var texts []held
		for id := range 1 + r.IntN(40) {
			text := word(5)
			switch r.IntN(7) {
			case 0:
				x.Always = append(x.Always, id)
				texts = append(texts, held{"", strings.HasPrefix})
			case 1, 2:
				x.Begin("a_"+text, id)
				texts = append(texts, held{"a_" + text, strings.HasPrefix})
			case 3, 4:
				x.End(text, id)
				texts = append(texts, held{text, strings.HasSuffix})
			default:
				x.Exact[text] = append(x.Exact[text], id)
				texts = append(texts, held{text, func(name, text string) bool { return name == text }})
			}
		}
		f := x.Finder()
		for range 300 {
			name := word(8)
			if r.IntN(2) == 0 {
				name = "a_" + name
			}
			var want []int
			for id, h := range texts {
				if h.has(name, h.text) {
					want = append(want, id)
				}
			}
			assert.True(t, slices.Equal(want, f.Nodes(name)), "seed %d: %q: %v, want %v", seed, name, f.Nodes(name), want)
		}
	}
}

// A name of any length has a bit, those from 63 bytes on the same.
func TestFinderKnowsLongNames(t *testing.T) {
	x := Index{Exact: map[string][]int{}}
	for i, n := range []int{0, 1, 62, 63, 64, 200} {
		x.Exact[strings.Repeat("x", n)] = []int{i}
	}
	f := x.Finder()
	for i, n := range []int{0, 1, 62, 63, 64, 200} {
		assert.Equal(t, []int{i}, f.Nodes(strings.Repeat("x", n)), fmt.Sprint(n))
	}
	assert.Empty(t, f.Nodes(strings.Repeat("x", 61)))
	assert.Empty(t, f.Nodes(strings.Repeat("y", 300)))
}

package tests

import (
	"bufio"
	"compress/gzip"
	"flag"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ownWords are the words of the project that no dictionary has, one a line.
const ownWords = "testdata/words/own.txt"

var updateWords = flag.Bool("update-words", false, "write the unknown words of all pages to "+ownWords+": read the difference before it is committed")

// TestSpelling: each word of the pages and of the help is in the dictionary (Debian's
// wbritish, whose notice is beside it) or in the project's own list, and each word of
// that list is used. Code is no words, and no name is: what holds a digit, a dot, a
// slash, an underscore or a capital that is not the first letter.
func TestSpelling(t *testing.T) {
	known, own := dictionary(t), map[string]bool{}
	if *updateWords {
		writeOwnWords(t, known)
	}
	text, err := os.ReadFile(ownWords)
	require.NoError(t, err)
	listed := strings.Fields(string(text))
	assert.True(t, slices.IsSorted(listed), "%s is not sorted", ownWords)
	for _, w := range listed {
		assert.False(t, known[w], "%s has %s, which the dictionary has", ownWords, w)
		own[w] = false
	}
	for _, p := range pages(t) {
		var unknown []string
		for _, w := range wordsOf(p) {
			if _, ours := own[w]; ours {
				own[w] = true
			} else if !spelled(known, w) && !slices.Contains(unknown, w) {
				unknown = append(unknown, w)
			}
		}
		assert.Empty(t, unknown, "%s: misspelt, or words for %s", p.name, ownWords)
	}
	for _, w := range listed {
		assert.True(t, own[w], "%s: no page has %s", ownWords, w)
	}
}

func writeOwnWords(t *testing.T, known map[string]bool) {
	unknown := map[string]bool{}
	for _, p := range pages(t) {
		for _, w := range wordsOf(p) {
			if !spelled(known, w) {
				unknown[w] = true
			}
		}
	}
	require.NoError(t, os.WriteFile(ownWords, []byte(strings.Join(slices.Sorted(maps.Keys(unknown)), "\n")+"\n"), 0o644))
}

// TestSpellingFinds: a word that is spelt wrongly is found wherever a page has it.
func TestSpellingFinds(t *testing.T) {
	known := dictionary(t)
	for _, text := range []string{"A recieved word", "- an item that is recieved", "| a | recieved |", "## recieved", "[recieved](x.md)", "**Recieved**, and", "(recieved)", "re-recieved", "recieved's", "recieved:\nmore"} {
		found := slices.ContainsFunc(wordsOf(page{text: text, markdown: true}), func(w string) bool { return !spelled(known, w) })
		assert.True(t, found, text)
	}
	for _, text := range []string{"`recieved`", "```sh\nrecieved\n```", "[here](recieved.md)", "recieved.go", "recieved_x", "RECIEVED", "reCieved", "x/recieved"} {
		assert.NotContains(t, wordsOf(page{text: text, markdown: true}), "recieved", text)
	}
}

func dictionary(t *testing.T) map[string]bool {
	f, err := os.Open("testdata/words/british.gz")
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	known := map[string]bool{}
	for s := bufio.NewScanner(strings.NewReader(string(text))); s.Scan(); {
		known[s.Text()] = true
	}
	require.Greater(t, len(known), 60_000)
	return known
}

func spelled(known map[string]bool, w string) bool {
	return known[w] || len(w) < 2
}

var (
	word  = regexp.MustCompile(`\p{L}[\p{L}'’]*`)
	names = regexp.MustCompile(`[\d_/\\@=<>{}$~]|\p{L}\.\p{L}|\p{Ll}\p{Lu}|\p{Lu}\p{Lu}|^-`)
	outer = "()[]\"“”,;:.!?…*|"
)

// wordsOf are the words of a page in small letters. A proper name begins with a
// capital that does not begin a sentence.
func wordsOf(p page) []string {
	texts := []string{p.text}
	if p.markdown {
		texts = blocks(p.text)
	}
	var out []string
	for _, text := range texts {
		begins := true
		for _, token := range strings.Fields(text) {
			last := begins
			begins = strings.ContainsAny(token[len(token)-1:], ".:!?")
			token = strings.Trim(token, outer)
			if names.MatchString(token) {
				continue
			}
			for _, w := range word.FindAllString(token, -1) {
				w = strings.ReplaceAll(strings.Trim(w, "'’"), "’", "'")
				w = strings.TrimSuffix(w, "'s")
				if w == "" || unicode.Is(unicode.Han, []rune(w)[0]) || !last && unicode.IsUpper([]rune(w)[0]) {
					continue
				}
				out = append(out, strings.ToLower(w))
			}
		}
	}
	return out
}

package tests

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A page without a row in the table of docs/README.md may have the first grade. What
// is below the second needs no bound of its own.
const newPageGrade, easyGrade = 9.0, 6.0

var updateReadable = flag.Bool("update-readable", false, "write the table of docs/README.md: a bound is only ever lowered")

// TestReadable: no page has become harder to read than the table of docs/README.md
// allows. The grade is that of Flesch and Kincaid: 0.39 times the words of a sentence,
// and 11.8 times the syllables of a word, less 15.59.
func TestReadable(t *testing.T) {
	index, ok := readFile("docs/README.md")
	require.True(t, ok)
	before, table, ok := strings.Cut(index, "<!-- readability -->\n")
	require.True(t, ok)
	table, after, ok := strings.Cut(table, "<!-- end -->")
	require.True(t, ok)
	rows := map[string][]string{}
	for _, line := range strings.Split(table, "\n") {
		if cells := strings.Split(strings.Trim(line, "| "), "|"); len(cells) == 4 && strings.Contains(cells[0], "](") {
			name := inline.FindStringSubmatch(cells[0])[1]
			rows[path.Join("docs", name)] = cells
		}
	}
	out := "| page | at d4c9d86 | now | at most |\n|---|---|---|---|\n"
	for _, p := range pages(t) {
		if !measured(p) {
			continue
		}
		grade, bound, was := gradeOf(p.text), newPageGrade, "–"
		if cells := rows[p.name]; cells != nil {
			was = strings.TrimSpace(cells[1])
			var err error
			bound, err = strconv.ParseFloat(strings.TrimSpace(cells[3]), 64)
			require.NoError(t, err, p.name)
			delete(rows, p.name)
		}
		if *updateReadable {
			bound = min(bound, max(easyGrade, math.Ceil(2*grade)/2+0.5))
		}
		assert.LessOrEqual(t, grade, bound, "%s: shorter sentences and words are needed", p.name)
		title, link := strings.TrimPrefix(p.name, "docs/"), strings.TrimPrefix(p.name, "docs/")
		if link == p.name {
			link = "../" + p.name
		}
		out += fmt.Sprintf("| [%s](%s) | %s | %.1f | %.1f |\n", title, link, was, grade, bound)
	}
	assert.Empty(t, rows, "rows of pages that are not there")
	if *updateReadable {
		require.NoError(t, os.WriteFile("../docs/README.md", []byte(before+"<!-- readability -->\n"+out+"<!-- end -->"+after), 0o644))
	}
}

// TestReadableGrades: texts whose grade was counted by hand.
func TestReadableGrades(t *testing.T) {
	for text, want := range map[string][3]int{
		"The cat sat on the mat. It was a fat cat!":         {2, 11, 11},
		"# A heading\n\nA rule says `deny` of a call here.": {1, 8, 8},
		"- one item of four\n- and another one\n  here":     {2, 8, 11},
		"| a table | with one long enough cell |":           {1, 5, 6},
		"The policy of e.g. hooks.yaml is made of hooks.":   {1, 10, 12},
	} {
		s, w, y := counts(text)
		assert.Equal(t, want, [3]int{s, w, y}, text)
	}
	assert.InDelta(t, 0.39*5.5+11.8-15.59, gradeOf("The cat sat on the mat. It was a fat cat!"), 0.001)
}

// measured are the pages that hookc's authors write by hand.
func measured(p page) bool {
	return p.markdown && (strings.HasPrefix(p.name, "docs/") || p.name == "README.md" || p.name == "CONTRIBUTING.md" || p.name == "SECURITY.md")
}

func gradeOf(text string) float64 {
	sentences, words, syllables := counts(text)
	return 0.39*float64(words)/float64(sentences) + 11.8*float64(syllables)/float64(words) - 15.59
}

var (
	ends   = regexp.MustCompile(`[.!?][)"”]*(\s|$)`)
	vowels = regexp.MustCompile(`[aeiouy]+`)
	mute   = regexp.MustCompile(`([^aeiouyl]e|[aeiouy]le|[^aeiouytd]ed|[^aeiouyscxzgh]es)$`)
)

// counts are the sentences, words and syllables of what is written in sentences:
// paragraphs, items and cells of at least four words. A span of code is a word of one
// syllable. A syllable is a group of vowels, but for an e at the end that is mute.
func counts(text string) (sentences, words, syllables int) {
	for _, b := range blocks(headings.ReplaceAllString(text, "")) {
		if len(word.FindAllString(b, -1)) < 4 {
			continue
		}
		for _, s := range ends.Split(strings.NewReplacer("e.g. ", "eg ", "i.e. ", "ie ").Replace(b), -1) {
			found := word.FindAllString(s, -1)
			if len(found) == 0 {
				continue
			}
			sentences++
			words += len(found)
			for _, w := range found {
				w = strings.ToLower(w)
				syllables += max(1, len(vowels.FindAllString(mute.ReplaceAllString(w, "x"), -1)))
			}
		}
	}
	return sentences, words, syllables
}

var headings = regexp.MustCompile(`(?m)^#.*$`)

package tests

import (
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terms are the words that docs/glossary.md must have: what explain says to users, and
// the words of code that took the place of others.
var terms = strings.Fields(`posture slot world speculative recheck cold engine tier agent native gate workers batch contribution delivered
	waits schedule pipelineRun backoff LazyFusion restrict reuse Reads dependencies snapshot Settings WireFormat silent Emulate Sequential ContinueTurn Transient`)

// gone are the words that name nothing any more.
var gone = strings.Fields(`crew hands band stretch muster squad crowd said told heard unsaid wiring piping fatigue tired evade holdback deceives island
	looksat mute spoken onward inturn passing`)

// entry is a row of a table of docs/glossary.md.
type entry struct {
	word, meaning string
	code          bool
}

func glossary(t *testing.T) []entry {
	text, err := os.ReadFile("../docs/glossary.md")
	require.NoError(t, err)
	var out []entry
	for i, section := range strings.Split(string(text), "\n## ") {
		for _, line := range strings.Split(section, "\n") {
			cells := strings.Split(line, "|")
			if len(cells) > 3 && !strings.Contains(line, "---") && strings.TrimSpace(cells[1]) != "word" {
				out = append(out, entry{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), i == 2})
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// TestGlossary: every term has a row, each row is of a word that is used, and words
// that were given up are names of nothing.
func TestGlossary(t *testing.T) {
	var rows []string
	for _, e := range glossary(t) {
		rows = append(rows, e.word)
	}
	assert.Empty(t, slices.DeleteFunc(slices.Clone(terms), func(w string) bool { return slices.Contains(rows, w) }), "without a row")
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(rows))), len(rows), "a word has two rows")
	code, declared, texts := map[string]bool{}, map[string]bool{}, strings.Builder{}
	declare := func(in, name string) {
		if !strings.HasPrefix(in, "cmd/") { // the commands' own words
			declared[strings.ToLower(name)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listPackages(t))) {
		_, files, _ := sources(t, name)
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					code[n.Name] = true
				case *ast.BasicLit:
					texts.WriteString(n.Value)
				case *ast.FuncDecl:
					declare(name, n.Name.Name)
				case *ast.TypeSpec:
					declare(name, n.Name.Name)
				case *ast.Field:
					for _, id := range n.Names {
						declare(name, id.Name)
					}
				}
				return true
			})
		}
	}
	paths, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	below, err := filepath.Glob("../docs/*/*.md")
	require.NoError(t, err)
	for _, path := range append(append(paths, below...), "../README.md") {
		if filepath.Base(path) != "glossary.md" {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			texts.Write(text)
		}
	}
	for _, e := range glossary(t) {
		used := code[e.word]
		if !e.code {
			used = regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(e.word) + `s?\b`).MatchString(texts.String())
		}
		assert.True(t, used, "nothing is called %s", e.word)
		assert.NotEmpty(t, e.meaning, e.word)
	}
	for _, word := range terms[:8] {
		assert.True(t, regexp.MustCompile(`\[`+word+`s?\]\((docs/|\.\./)?glossary\.md\)`).MatchString(texts.String()), "no page leads from %s to docs/glossary.md", word)
	}
	for _, word := range gone {
		assert.False(t, declared[word], "something is called %s: docs/glossary.md has another word", word)
	}
}

package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// idiom are phrases that a reader with English as a second language must guess at.
var idiom = regexp.MustCompile(`(?i)\b(stands? for|stood for|standing for|by itself|by themselves|anew|at a stroke|nil for none|"" for none|-1 for none|its author thinks)\b|("" |-1 )for none\b`)

// longest is how many words a sentence of a diagnostic or of a help text may have.
const longest = 40

// TestPlainWords: no page, no help, no comment and no text of the programs has a phrase
// of idiom.
func TestPlainWords(t *testing.T) {
	for _, p := range pages(t) {
		if p.name == "CHANGELOG.md" { // it tells what was
			continue
		}
		if found := idiom.FindString(strings.Join(strings.Fields(p.text), " ")); found != "" {
			t.Errorf("%s: %q: say it in plain words", p.name, found)
		}
	}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "tests") && path != ".." {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			plainSource(t, path)
		}
		return nil
	}))
}

func plainSource(t *testing.T, path string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	require.NoError(t, err)
	tell := func(at token.Pos, text string) {
		if found := idiom.FindString(strings.Join(strings.Fields(text), " ")); found != "" {
			t.Errorf("%s: %q: say it in plain words", files.Position(at), found)
		}
	}
	for _, group := range file.Comments {
		tell(group.Pos(), group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			tell(text.Pos(), text.Value)
		}
		return true
	})
}

// TestShortSentences: no sentence of a diagnostic or of a help text is longer than a
// reader can hold.
func TestShortSentences(t *testing.T) {
	seen := 0
	for _, p := range pages(t) {
		texts := strings.Split(p.text, "\n\n")
		if p.name == "docs/reference/diagnostics.md" {
			texts = blocks(p.text)
		} else if p.markdown {
			continue
		}
		for _, text := range texts {
			if !p.markdown && strings.Contains(text, "  ") { // a table, or an example
				continue
			}
			for _, s := range ends.Split(text, -1) {
				seen++
				assert.LessOrEqual(t, len(word.FindAllString(s, -1)), longest, "%s: a long sentence: %s", p.name, s)
			}
		}
	}
	assert.Greater(t, seen, 1000)
}

// TestPlainWordsFinds: each phrase is found in each place that has it.
func TestPlainWordsFinds(t *testing.T) {
	for _, text := range []string{"it stands for x", "Stand for it", "read anew.", "by itself", "nil for none", "at a stroke", `"" for none`} {
		assert.True(t, idiom.MatchString(text), text)
	}
	for _, text := range []string{"a canew", "it stands", "for none of them"} {
		assert.False(t, idiom.MatchString(text), text)
	}
}

package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page is a text that people read: a page of Markdown, or the help of a command.
type page struct {
	name, text string // the name is relative to the repository
	markdown   bool
}

// pages are all pages of the repository, and the help of each command.
func pages(t *testing.T) []page {
	var out []page
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if d.IsDir() {
			if d.Name() == "node_modules" || name == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		markdown := strings.HasSuffix(name, ".md") && !strings.Contains(name, "testdata/")
		if !markdown && !strings.HasPrefix(name, "tests/testdata/golden/help/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			out = append(out, page{name, string(text), markdown})
		}
		return err
	}))
	require.Greater(t, len(out), 60)
	return out
}

var (
	fenced   = regexp.MustCompile("(?ms)^ *```.*?^ *```[^\n]*$")
	codeSpan = regexp.MustCompile("(?s)``.*?``|`[^`]*?`")
	comments = regexp.MustCompile(`(?s)<!--.*?-->`)
	tags     = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	inline   = regexp.MustCompile(`\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)`)
	rule     = regexp.MustCompile(`^[ |:*=-]*$`)
)

// uncoded is a page of Markdown without its code: a span is the word CODE.
func uncoded(text string) string {
	text = comments.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	return codeSpan.ReplaceAllString(text, "CODE")
}

// blocks are the paragraphs, items, headings and cells of a page of Markdown, as
// plain text.
func blocks(text string) []string {
	text = inline.ReplaceAllString(uncoded(text), "]")
	text = strings.NewReplacer("[", "", "]", "", "**", "", "*", "").Replace(tags.ReplaceAllString(text, ""))
	var out []string
	open := false
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case rule.MatchString(line):
			open = false
		case strings.HasPrefix(line, "|"):
			for _, cell := range strings.Split(strings.Trim(line, "| "), "|") {
				out = append(out, strings.TrimSpace(cell))
			}
			open = false
		case strings.HasPrefix(line, "#"):
			out = append(out, strings.Trim(line, "# "))
			open = false
		case open && !strings.HasPrefix(line, "- ") && !numbered.MatchString(line):
			out[len(out)-1] += " " + line
		default:
			out = append(out, numbered.ReplaceAllString(strings.TrimPrefix(line, "- "), ""))
			open = true
		}
	}
	return out
}

var numbered = regexp.MustCompile(`^\d+\. `)

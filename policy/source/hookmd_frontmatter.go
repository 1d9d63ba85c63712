package source

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// maxFrontmatter bounds how far a HOOK.md is read in search of the end of its
// frontmatter, in bytes.
const maxFrontmatter = 64 << 10

const exampleFrontmatter = `begin the file with a line "---", the fields, and a line "---"`

var codeFrontmatter = diag.Define("HK050", diag.Error, "HOOK.md without frontmatter")
var codeByteOrderMark = diag.Define("HK060", diag.Warning, "byte order mark before the frontmatter")

// frontmatter is the head of a HOOK.md: its source holds the file up to the
// closing line, the tree what stands between the two lines (nil: nothing).
type frontmatter struct {
	source *diag.Source
	span   diag.Span
	tree   *tree.Node
}

// readFrontmatter reads r up to the line that closes the frontmatter; the
// text after it stays unread. The result is nil when there is none.
// Delimiters are whole lines, so three dashes inside a value are text (the
// reference parser cuts there); the closing line may have more than three.
func readFrontmatter(name string, r io.Reader) (*frontmatter, diag.List) {
	lines := bufio.NewReader(io.LimitReader(r, maxFrontmatter+1))
	var text strings.Builder
	var err error
	line := ""
	next := func() bool {
		if errors.Is(err, io.EOF) || text.Len() > maxFrontmatter {
			return false
		}
		line, err = lines.ReadString('\n')
		text.WriteString(line)
		return line != "" && (err == nil || errors.Is(err, io.EOF))
	}
	fail := func(format string, args ...any) (*frontmatter, diag.List) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, diag.List{codeFile.Report(fileSpan(name), "%s: %v", name, plainError(err))}
		}
		src := diag.NewSource(name, text.String())
		return nil, diag.List{codeFrontmatter.Report(diag.Span{Source: src, End: len(src.Line(1))}, format, args...).WithHint(exampleFrontmatter)}
	}
	if !next() {
		return fail("the file is empty")
	}
	mark := tree.BOM(line)
	switch first := strings.TrimRight(line[len(mark):], " \t\r\n"); {
	case first == "":
		return fail("a blank line stands before the frontmatter")
	case first != "---":
		return fail("the file does not begin with frontmatter")
	}
	start := text.Len()
	for next() {
		if !closes(line) {
			continue
		}
		src := diag.NewSource(name, text.String())
		f := &frontmatter{source: src, span: diag.Span{Source: src, Start: len(mark), End: len(mark) + 3}}
		var found diag.List
		if mark != "" {
			found.Add(codeByteOrderMark.Report(diag.Span{Source: src, End: len(mark)}, "the file begins with a byte order mark").
				WithHint("save it as UTF-8 without a byte order mark"))
		}
		tree, more := tree.ParseYAML(src, start, text.Len()-len(line))
		found.Add(more...)
		if tree == nil && more.HasErrors() {
			return nil, found
		}
		f.tree = tree
		return f, found
	}
	if text.Len() > maxFrontmatter {
		return fail("the frontmatter does not end within %d KiB", maxFrontmatter>>10)
	}
	return fail("the frontmatter is not closed")
}

// closes reports whether a line ends the frontmatter: three dashes or more.
func closes(line string) bool {
	line = strings.TrimRight(line, " \t\r\n")
	return len(line) >= 3 && strings.Trim(line, "-") == ""
}

// CutFrontmatter parts a HOOK.md before and after its fields.
func CutFrontmatter(name, text string) (head, fields, rest string, err error) {
	fm, found := readFrontmatter(name, strings.NewReader(text))
	if found.HasErrors() {
		return "", "", "", found.Err()
	}
	if fm == nil {
		return "", "", "", fault.Errorf("%s has no frontmatter", name)
	}
	upTo := fm.source.Content // the closing line and its end included
	start := strings.IndexByte(upTo, '\n') + 1
	end := strings.LastIndexByte(strings.TrimSuffix(upTo, "\n"), '\n') + 1
	return text[:start], text[start:end], text[end:], nil
}

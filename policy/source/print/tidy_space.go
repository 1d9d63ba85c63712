package print

import (
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookc/hookc/internal/spell"
)

// entries are the nodes of a document that begin a line of their own: keys of
// block maps and items of block lists, in the order they are written.
func entries(n *yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for i, c := range n.Content {
		if n.Kind != yaml.DocumentNode && i%step == 0 {
			out = append(out, c)
		}
		out = append(out, entries(c)...)
	}
	return out
}

// begins is the line, from 0, on which an entry or its comment begins. The text
// of a comment may hold empty lines.
func begins(n *yaml.Node, lines []string) int {
	at := n.Line - 1
	if n.HeadComment == "" && n.Kind != yaml.ScalarNode && len(n.Content) > 0 && n.Content[0].Line == n.Line && n.Content[0].HeadComment != "" {
		return begins(n.Content[0], lines) // a comment above the first key of an item
	}
	if n.HeadComment == "" {
		return at
	}
	first, _, _ := spell.Cut(n.HeadComment, "\n")
	for i := at - 1; i >= 0; i-- {
		switch line := strings.TrimSpace(lines[i]); {
		case line == first && i <= at-1-strings.Count(n.HeadComment, "\n"):
			return i
		case line != "" && !strings.HasPrefix(line, "#"):
			return at
		}
	}
	return at
}

// spaces says of each entry whether an empty line is before it. Of several on one
// line it is before the first.
func spaces(doc *yaml.Node, lines []string) []bool {
	var out []bool
	seen := map[int]bool{}
	for _, n := range entries(doc) {
		at := begins(n, lines)
		out = append(out, !seen[at] && at > 0 && at <= len(lines) && strings.TrimSpace(lines[at-1]) == "")
		seen[at] = true
	}
	return out
}

// respaced puts empty lines before the entries that had one, and takes out those
// that are doubled or at an end.
func respaced(doc *yaml.Node, text string, spaced []bool) ([]byte, error) {
	lines := lineList(text)
	list := entries(doc)
	if len(list) != len(spaced) {
		return nil, errors.New("its entries would not be the same")
	}
	before := map[int]bool{}
	for i, n := range list {
		if spaced[i] {
			before[begins(n, lines)] = true
		}
	}
	inText := textLines(doc, lines)
	var out []string
	for i, line := range lines {
		if !inText[i] {
			line = withoutLastComma(line)
		}
		blank := strings.TrimSpace(line) == "" && !inText[i]
		if before[i] && len(out) > 0 && out[len(out)-1] != "" {
			out = append(out, "")
		}
		if blank && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, "\n") + last(out)), nil
}

// withoutLastComma takes out the comma that the YAML writer leaves in braces that
// a comment follows.
func withoutLastComma(line string) string {
	for _, brace := range []string{"}", "]"} {
		if head, ok := spell.CutSuffix(line, ","+brace); ok {
			return head + brace
		}
	}
	return line
}

// last ends the last line, where it does not end yet.
func last(lines []string) string {
	if n := len(lines); n > 0 && lines[n-1] == "" {
		return ""
	}
	return "\n"
}

// textLines marks the lines, from 0, of texts that are written in lines of their
// own: empty ones belong to them.
func textLines(doc *yaml.Node, lines []string) map[int]bool {
	out := map[int]bool{}
	mark := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = true
		}
	}
	for _, n := range whole(doc) {
		switch {
		case n.Kind != yaml.ScalarNode:
		case n.Style&yaml.LiteralStyle != 0:
			mark(n.Line, n.Line+strings.Count(n.Value, "\n"))
		case n.Style&yaml.FoldedStyle != 0:
			from, to, _ := foldedLines(n, lines)
			if keepsEnd(n, lines) {
				to += emptyAfter(lines, to)
			}
			mark(from, to)
		}
	}
	return out
}

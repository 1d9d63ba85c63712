package print

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookc/hookc/internal/lists"
)

// foldedNodes are the folded texts (`>`) of a document, in the order they are
// written.
func foldedNodes(doc *yaml.Node) []*yaml.Node {
	return lists.DeleteFunc(whole(doc), func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode || n.Style&yaml.FoldedStyle == 0 })
}

// foldedTexts are the lines of each folded text as its author broke them, without
// their indentation; nil for one that says how far it is indented.
func foldedTexts(doc *yaml.Node, lines []string) [][]string {
	var out [][]string
	for _, n := range foldedNodes(doc) {
		from, to, indent := foldedLines(n, lines)
		var text []string
		if header := lines[n.Line-1]; !strings.ContainsAny(header[strings.LastIndexByte(header, '>'):], "123456789") {
			for _, line := range lines[from:to] {
				text = append(text, strings.TrimRight(line[min(indent, len(line)):], " \t\r"))
			}
			if keepsEnd(n, lines) {
				text = append(text, make([]string, emptyAfter(lines, to))...)
			}
		}
		out = append(out, text)
	}
	return out
}

// emptyAfter counts the empty lines from a line on, without the one that is the
// end of the file.
func emptyAfter(lines []string, at int) int {
	n := 0
	for at+n < len(lines)-1 && strings.TrimSpace(lines[at+n]) == "" {
		n++
	}
	return n
}

// keepsEnd reports whether the empty lines behind a folded text belong to it.
func keepsEnd(n *yaml.Node, lines []string) bool {
	header := lines[n.Line-1]
	return strings.Contains(header[strings.LastIndexByte(header, '>')+1:], "+")
}

// foldedLines are the lines, from 0, that hold a folded text, and its indentation.
// Empty lines at its end are not among them.
func foldedLines(n *yaml.Node, lines []string) (from, to, indent int) {
	from = n.Line
	to = from
	for i := from; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \t\r")
		if line == "" {
			continue
		}
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		if to == from {
			indent = spaces
		}
		if spaces < indent || indent == 0 {
			break
		}
		to = i + 1
	}
	return from, to, indent
}

// refold breaks the lines of folded texts where their author did.
func refold(doc *yaml.Node, lines []string, folded [][]string) string {
	nodes := foldedNodes(doc)
	if len(nodes) != len(folded) {
		return strings.Join(lines, "\n")
	}
	var out []string
	at := 0
	for i, n := range nodes {
		from, to, indent := foldedLines(n, lines)
		if folded[i] == nil || from == to {
			continue
		}
		out = append(out, lines[at:from]...)
		for _, line := range folded[i] {
			if line != "" {
				line = strings.Repeat(" ", indent) + line
			}
			out = append(out, line)
		}
		at = to + emptyAfter(lines, to) // the writer doubles them
	}
	return strings.Join(append(out, lines[at:]...), "\n")
}

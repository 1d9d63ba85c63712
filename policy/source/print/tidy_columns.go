package print

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/hookc/hookc/internal/spell"
)

// columns are where the comments at the ends of lines begin, in characters, in
// the order of the nodes they belong to; -1 for one that is elsewhere.
func columns(doc *yaml.Node, lines []string) []int {
	var out []int
	for _, n := range whole(doc) {
		if content, _, ok := atEnd(n, lines); ok && n.LineComment != "" {
			out = append(out, utf8.RuneCountInString(content))
		} else if n.LineComment != "" {
			out = append(out, -1)
		}
	}
	return out
}

// atEnd parts the line of a node before its comment, spaces included.
func atEnd(n *yaml.Node, lines []string) (content, comment string, ok bool) {
	if n.Line < 1 || n.Line > len(lines) || strings.Contains(n.LineComment, "\n") {
		return "", "", false
	}
	line := strings.TrimRight(lines[n.Line-1], " \t\r")
	content, ok = spell.CutSuffix(line, n.LineComment)
	return content, n.LineComment, ok && strings.TrimSpace(content) != ""
}

// aligned puts the comments at the ends of lines back into the columns they were
// in, where their lines leave room.
func aligned(doc *yaml.Node, text string, was []int) string {
	lines := lineList(text)
	if len(columns(doc, lines)) != len(was) {
		return text
	}
	at := 0
	for _, n := range whole(doc) {
		if n.LineComment != "" {
			column := was[at]
			at++
			if content, comment, ok := atEnd(n, lines); ok && column >= 0 {
				content = strings.TrimRight(content, " \t")
				lines[n.Line-1] = content + strings.Repeat(" ", max(1, column-utf8.RuneCountInString(content))) + comment
			}
		}
	}
	return strings.Join(lines, "\n")
}

package casetest

import (
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// edit is a change of a text that a mistake could be.
type edit struct {
	start, end int
	text, what string
}

// swaps are what words and operators of Rego and expr become.
var swaps = map[string]string{"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
	"and": "or", "or": "and", "startswith": "contains", "endswith": "contains", "startsWith": "contains", "endsWith": "contains"}

// operators are tried longest first.
var operators = []string{":=", "==", "!=", "<=", ">=", "&&", "||", "<", ">"}

// token is a word, a number, an operator or a string of a text.
type token struct {
	start, end int
	text       string
}

// tokens are those of text[from:to]. A `#` begins a comment of Rego.
func tokens(text string, from, to int, rego bool) []token {
	var out []token
	add := func(start, end int) int {
		out = append(out, token{start, end, text[start:end]})
		return end
	}
	for i := from; i < to; {
		c := text[i]
		switch {
		case c == '#' && rego:
			n := strings.IndexByte(text[i:to], '\n')
			if n < 0 {
				return out
			}
			i += n
		case c == '"' || c == '`' || c == '\'' && !rego:
			i = add(i, quoted(text, i, to))
		case isWord(c):
			end := i
			for end < to && isWord(text[end]) {
				end++
			}
			i = add(i, end)
		default:
			end := i + 1
			for _, op := range operators {
				if strings.HasPrefix(text[i:to], op) {
					end = add(i, i+len(op))
					break
				}
			}
			i = end
		}
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// quoted is the end of the string that begins at a place.
func quoted(text string, start, to int) int {
	for i := start + 1; i < to; i++ {
		switch {
		case text[i] == '\\' && text[start] != '`':
			i++
		case text[i] == text[start]:
			return i + 1
		}
	}
	return to
}

// edits are the small mistakes in text[from:to]: another operator, off by one, a
// pattern that matches more.
func edits(text string, from, to int, rego bool) []edit {
	var out []edit
	for _, t := range tokens(text, from, to, rego) {
		now := swaps[t.text]
		if strings.ContainsRune("\"`'", rune(t.text[0])) {
			now = widened(t.text)
		} else if n, err := strconv.Atoi(t.text); err == nil {
			now = strconv.Itoa(n + 1)
		}
		if now != "" && now != t.text {
			out = append(out, edit{t.start, t.end, now, t.text + " becomes " + now})
		}
	}
	return out
}

// widened is a regular expression or a glob that matches more: without its
// anchors, or across folders. A text that looks like none stays as it is.
func widened(s string) string {
	out := strings.NewReplacer(`\\b`, "", `\b`, "").Replace(s)
	for _, q := range []string{`"`, "`", "'"} {
		out = strings.Replace(out, q+"^", q, 1)
		if strings.HasSuffix(out, "$"+q) {
			out = strings.TrimSuffix(out, "$"+q) + q
		}
	}
	if out == s && strings.Contains(s, "*") && !strings.Contains(s, "**") && !strings.Contains(s, ".*") {
		out = strings.ReplaceAll(s, "*", "**")
	}
	return out
}

// conditions has each condition be dropped and negated. They are pieces of a text.
func conditions(text string, pieces [][2]int) []edit {
	var out []edit
	for _, p := range pieces {
		was := text[p[0]:p[1]]
		out = append(out, edit{p[0], p[1], "true", "without the condition " + oneLine(was)})
		if rest, ok := spell.CutPrefix(was, "not "); ok {
			out = append(out, edit{p[0], p[1], rest, "without the not of " + oneLine(was)})
		} else if !strings.HasPrefix(was, "every ") && !strings.HasPrefix(was, "some ") {
			out = append(out, edit{p[0], p[1], "not " + was, "the opposite of " + oneLine(was)})
		}
	}
	return out
}

// conjuncts are the parts of an expression between its outermost ands.
func conjuncts(text string) [][2]int {
	var out [][2]int
	depth, start := 0, 0
	add := func(end int) {
		part := text[start:end]
		from := start + len(part) - len(strings.TrimLeft(part, " \n\t"))
		if to := start + len(strings.TrimRight(part, " \n\t")); to > from {
			out = append(out, [2]int{from, to})
		}
	}
	last := 0
	for _, t := range tokens(text, 0, len(text), false) {
		between := text[last:t.start]
		depth += strings.Count(between, "(") + strings.Count(between, "[") + strings.Count(between, "{") -
			strings.Count(between, ")") - strings.Count(between, "]") - strings.Count(between, "}")
		last = t.end
		if depth == 0 && (t.text == "&&" || t.text == "and") {
			add(t.start)
			start = t.end
		}
		if depth == 0 && (t.text == "||" || t.text == "or") {
			return [][2]int{{0, len(text)}} // which binds less
		}
	}
	add(len(text))
	return out
}

// oneLine is a text as it is shown.
func oneLine(s string) string {
	return strings.Join(strings.Fields(s), " ")
}

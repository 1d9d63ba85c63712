package pattern

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
)

// Minimatch compiles a glob as the JavaScript library of that name reads it
// with matchBase set: a pattern without a slash is about the last part of a
// path, `*` and `**` pass over names that begin with a dot, `{a,b}` and
// `{1..3}` are alternatives, `!` in front turns the answer round and `#` in
// front matches nothing. Every text is a pattern. Paths have slashes.
func Minimatch(text string) *Pattern {
	glob := strings.TrimLeft(text, "!")
	negated := (len(text)-len(glob))%2 == 1
	if strings.HasPrefix(text, "#") {
		return &Pattern{text: text, match: func(string) bool { return false }}
	}
	var all [][]segment
	for _, alternative := range expandBraces(glob) {
		all = append(all, segments(alternative))
	}
	return &Pattern{text: text, match: func(path string) bool {
		parts := splitSlashes(path)
		hit := slices.ContainsFunc(all, func(p []segment) bool {
			if len(p) == 1 {
				return matchSegments(p, []string{base(parts)})
			}
			return matchSegments(p, parts)
		})
		return hit != negated
	}}
}

// base is the last part of a path that is not empty.
func base(parts []string) string {
	for _, p := range slices.Backward(parts) {
		if p != "" {
			return p
		}
	}
	return ""
}

var slashes = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`/+`) })

func splitSlashes(s string) []string { return slashes().Split(s, -1) }

// segment is one part of a pattern: the globstar, a plain name, or a test.
type segment struct {
	star bool
	text string
	test func(string) bool
}

func segments(glob string) []segment {
	var out []segment
	for _, part := range splitSlashes(glob) {
		out = append(out, parseSegment(part))
	}
	return out
}

// matches is a part of a path against a part of a pattern. What is not plain
// never matches a hidden name unless it begins with the dot itself.
func (s segment) matches(name string) bool {
	if s.test == nil {
		return s.text == name
	}
	if name == "" || name == "." || name == ".." || strings.HasPrefix(name, ".") && !strings.HasPrefix(s.text, ".") {
		return false
	}
	return s.test(name)
}

// matchSegments is the library's own walk.
func matchSegments(pattern []segment, path []string) bool {
	for i, p := range pattern {
		switch {
		case len(path) == 0:
			return false
		case p.star && i == len(pattern)-1:
			return !slices.ContainsFunc(path, hidden)
		case p.star:
			return starMatches(pattern[i+1:], path)
		case !p.matches(path[0]):
			return false
		}
		path = path[1:]
	}
	return len(path) == 0 || len(path) == 1 && path[0] == ""
}

func starMatches(rest []segment, path []string) bool {
	for ; len(path) > 0; path = path[1:] {
		if matchSegments(rest, path) {
			return true
		}
		if hidden(path[0]) {
			return false
		}
	}
	return false
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// parseSegment reads one part of a pattern.
func parseSegment(part string) segment {
	if part == "**" {
		return segment{star: true, text: part}
	}
	t := translation{in: part}
	expr := t.all("")
	if !t.magic {
		return segment{text: t.plain.String()}
	}
	if p, err := ECMAScript.Compile("^(?:" + expr + ")$"); err == nil {
		return segment{text: part, test: p.Match}
	}
	return segment{text: part}
}

// translation turns a part of a glob into a regular expression.
type translation struct {
	in    string
	at    int
	magic bool
	plain strings.Builder
}

// all translates up to one of the ends, or to the end of the part.
func (t *translation) all(ends string) string {
	var out strings.Builder
	for t.at < len(t.in) {
		c := t.in[t.at]
		if strings.IndexByte(ends, c) >= 0 {
			break
		}
		if ext, ok := t.extended(); ok {
			out.WriteString(ext)
			continue
		}
		t.at++
		switch c {
		case '*':
			t.magic = true
			out.WriteString("[^/]*?")
		case '?':
			t.magic = true
			out.WriteString("[^/]")
		case '[':
			out.WriteString(t.class())
		case '\\':
			if t.at < len(t.in) {
				c = t.in[t.at]
				t.at++
			}
			out.WriteString(t.literal(c))
		default:
			out.WriteString(t.literal(c))
		}
	}
	return out.String()
}

func (t *translation) literal(c byte) string {
	t.plain.WriteByte(c)
	if c >= 0x80 {
		return string([]byte{c})
	}
	return regexp.QuoteMeta(string(rune(c)))
}

// extended translates ?(a|b), *(…), +(…), @(…) and !(…).
func (t *translation) extended() (string, bool) {
	if t.at+1 >= len(t.in) || t.in[t.at+1] != '(' || strings.IndexByte("?*+@!", t.in[t.at]) < 0 {
		return "", false
	}
	sub := translation{in: t.in, at: t.at + 2}
	var choices []string
	for {
		choices = append(choices, sub.all("|)"))
		if sub.at >= len(sub.in) {
			return "", false // never closed: plain text
		}
		sub.at++
		if sub.in[sub.at-1] == ')' {
			break
		}
	}
	kind := t.in[t.at]
	t.at, t.magic = sub.at, true
	body := "(?:" + strings.Join(choices, "|") + ")"
	switch kind {
	case '@':
		return body, true
	case '!':
		rest := translation{in: t.in, at: t.at}
		return "(?!(?:" + body + rest.all("") + ")$)[^/]*?", true
	}
	return body + string(rune(kind)), true
}

// class translates a set of characters, which is plain text when it does not
// end.
func (t *translation) class() string {
	end := t.at
	if end < len(t.in) && (t.in[end] == '!' || t.in[end] == '^') {
		end++
	}
	if end < len(t.in) && t.in[end] == ']' {
		end++
	}
	for end < len(t.in) && t.in[end] != ']' {
		end++
	}
	if end >= len(t.in) {
		return t.literal('[')
	}
	set := t.in[t.at:end]
	t.at, t.magic = end+1, true
	negated := strings.HasPrefix(set, "!") || strings.HasPrefix(set, "^")
	if negated {
		set = set[1:]
	}
	set = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "^", `\^`).Replace(set)
	if negated {
		return "[^" + set + "/]"
	}
	return "[" + set + "]"
}

// maxBraces bounds how many alternatives braces make.
const maxBraces = 1024

// expandBraces lists what {a,b} and {1..3} mean. Braces that hold neither
// are plain text.
func expandBraces(glob string) []string {
	out := []string{glob}
	for i := 0; i < len(out) && len(out) < maxBraces; {
		open, end, choices := braces(out[i])
		if choices == nil {
			i++
			continue
		}
		var made []string
		for _, c := range choices {
			made = append(made, out[i][:open]+c+out[i][end:])
		}
		out = slices.Replace(out, i, i+1, made...)
	}
	return out
}

// braces finds the first braces that hold alternatives: where they begin, where
// what follows begins, and the alternatives.
func braces(s string) (open, end int, choices []string) {
	for open = 0; open < len(s); open++ {
		if s[open] == '\\' {
			open++
			continue
		}
		if s[open] != '{' {
			continue
		}
		depth, from := 0, open+1
		var parts []string
		for i := open; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '{':
				depth++
			case ',':
				if depth == 1 {
					parts, from = append(parts, s[from:i]), i+1
				}
			case '}':
				if depth--; depth > 0 {
					continue
				}
				if len(parts) > 0 {
					return open, i + 1, append(parts, s[from:i])
				}
				if numbers := series(s[from:i]); numbers != nil {
					return open, i + 1, numbers
				}
				i = len(s)
			}
		}
	}
	return 0, 0, nil
}

// series is what 1..3 or a..c means, or nil.
func series(s string) []string {
	first, last, ok := spell.Cut(s, "..")
	if !ok {
		return nil
	}
	from, errA := strconv.Atoi(first)
	to, errB := strconv.Atoi(last)
	letters := errA != nil && errB != nil && len(first) == 1 && len(last) == 1
	if letters {
		from, to = int(first[0]), int(last[0])
	} else if errA != nil || errB != nil {
		return nil
	}
	step := 1
	if to < from {
		step = -1
	}
	var out []string
	for n := from; ; n += step {
		text := strconv.Itoa(n)
		if letters {
			text = string(rune(n))
		}
		out = append(out, text)
		if n == to || len(out) == maxBraces {
			return out
		}
	}
}

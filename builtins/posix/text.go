package posix

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lazy"
	"mvdan.cc/sh/v3/syntax"
)

// maxText bounds the bytes that a substitution makes.
const maxText = 4 << 20

// RemoveAffix is ${s#pattern} and its kin.
func RemoveAffix(s, pattern string, op syntax.ParExpOperator) string {
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	for n := 0; n <= len(s); n++ {
		i := n
		if op == syntax.RemLargePrefix || op == syntax.RemSmallSuffix {
			i = len(s) - n
		}
		switch {
		case prefix && losses.GlobMatch(pattern, s[:i]):
			return s[i:]
		case !prefix && losses.GlobMatch(pattern, s[i:]):
			return s[:i]
		}
	}
	return s
}

var blanks = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`[ \t\n\x00]+|[^ \t\n\x00]+`) })

// Pieces are the words of a text, and the blanks between them.
func Pieces(text string) []string { return blanks().FindAllString(text, -1) }

// LineCount is how many lines head or tail leave at least, and whether they count bytes.
func LineCount(args []string) (n int64, bytes bool) {
	n = 10
	for _, text := range args {
		bytes = bytes || strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "--b")
		text = strings.TrimLeft(strings.TrimPrefix(text, "--lines="), "-n")
		if k, ok := Number(text); ok {
			n = max(k, 1)
		}
		if strings.HasPrefix(text, "+") { // from that line on
			n = 1
		}
	}
	return n, bytes
}

// NamePart is what parallel puts for {.}, {/} and {//} of an argument.
func NamePart(mark, text string) (string, bool) {
	switch mark {
	case "{.}":
		return strings.TrimSuffix(text, path.Ext(text)), true
	case "{/}":
		return path.Base(text), true
	case "{//}":
		return path.Dir(text), true
	}
	return "", false
}

// SureAffix reports whether RemoveAffix of a glob's text, which left some of it, is what it is of every name that the
// glob matches: what goes lies before or behind the wildcards, or what is left stays in the same folder.
func SureAffix(s, left, pattern string, op syntax.ParExpOperator) bool {
	first, last := strings.IndexAny(s, losses.GlobChars), strings.LastIndexAny(s, "*?]")
	plain, gone := !strings.ContainsAny(pattern, losses.GlobChars), len(s)-len(left)
	if op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix {
		return strings.HasPrefix(pattern, "/") || len(left) >= first || op == syntax.RemLargeSuffix
	}
	return pattern == "*/" || gone > last || first == 0 && !strings.Contains(strings.TrimRight(s, "/"), "/") ||
		gone > 0 && gone <= first && (plain || op == syntax.RemSmallPrefix) || plain && !strings.HasPrefix(pattern, s[:max(first, 0)])
}

// ChangeCase is ${s^^} and its kin.
func ChangeCase(s string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerAll:
		return strings.ToLower(s)
	}
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || r == utf8.RuneError {
		return s
	}
	if op == syntax.LowerFirst {
		return string(unicode.ToLower(r)) + s[size:]
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// MatchAt is the end of the longest match of pattern at i, or i.
func MatchAt(s string, i int, pattern string, anchor byte) int {
	if anchor == '#' && i > 0 {
		return i
	}
	for end := len(s); end > i; end-- {
		if losses.GlobMatch(pattern, s[i:end]) {
			return end
		}
		if anchor == '%' {
			return i
		}
	}
	return i
}

// SedParts splits s/pattern/with/flags.
func SedParts(script string) ([3]string, bool) {
	var out [3]string
	s := strings.TrimSpace(script)
	if len(s) < 4 || s[0] != 's' || s[1] == '\\' || s[1] == ' ' {
		return out, false
	}
	sep, n := s[1], 0
	var b strings.Builder
	for i := 2; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && n < 2 {
			if s[i+1] != sep {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i+1])
			i++
			continue
		}
		if s[i] == sep && n < 2 {
			out[n] = b.String()
			b.Reset()
			n++
			continue
		}
		b.WriteByte(s[i])
	}
	out[2] = b.String()
	return out, n == 2
}

// SedSubstitute does s/a/b/ for plain texts.
func SedSubstitute(text, script string) (string, bool) {
	parts, ok := SedParts(script)
	if !ok || strings.ContainsAny(parts[0], `\.*[]^$`) || strings.ContainsAny(parts[1], `\&`) || strings.Trim(parts[2], "g") != "" || parts[0] == "" {
		return "", false
	}
	if len(text)*max(len(parts[1]), 1) > maxText {
		return "", false
	}
	if parts[2] == "g" {
		return strings.ReplaceAll(text, parts[0], parts[1]), true
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Replace(l, parts[0], parts[1], 1)
	}
	return strings.Join(lines, "\n"), true
}

// maxNesting bounds the brackets, and maxWords the keywords, that are open at
// once in a text before it is parsed: the parser recurses into each, and its
// stack has an end that cannot be caught.
const (
	maxNesting = 300
	maxKeyword = 3000
	maxRun     = 1500
	maxHere    = 1000
)

// TooDeep looks at brackets and keywords whether or not they are quoted.
func TooDeep(text string) bool {
	open, run, quotes := 0, 0, 0
	if strings.Count(text, "<<") > maxHere {
		return true
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '{', '[':
			open++
		case ')', '}', ']':
			open = max(open-1, 0)
		case '`':
			quotes++
		}
		switch text[i] {
		case '!', '-', '+', '~', '&', '|', '<':
			run++
		case ' ', '\t', '\n', '\\':
		default:
			run = 0
		}
		if open > maxNesting || run > maxRun {
			return true
		}
	}
	return quotes > 0 && strings.Contains(text, `\\\\\\\\\\\\\\\\`+"`") || keywordDepth(text) > maxKeyword
}

// keywordDepth is how many more words open a statement than close one.
func keywordDepth(text string) int {
	if len(text) < maxKeyword*2 {
		return 0
	}
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == ';' || r == utf8.RuneError }) {
		switch word {
		case "if", "while", "until", "case", "for", "select", "time", "coproc", "!", "function", "then", "do", "else", "elif":
			n++
		case "fi", "done", "esac":
			n = max(n-2, 0)
		}
	}
	return n
}

// Fields cuts a line into n fields at most, as IFS says: a blank among the
// separators joins others, any other ends one field.
func Fields(line, seps string, n int) []string {
	var out []string
	blank := func(r rune) bool { return strings.ContainsRune(" \t\n", r) && strings.ContainsRune(seps, r) }
	line = strings.TrimFunc(line, blank)
	for line != "" {
		end := strings.IndexAny(line, seps)
		if end < 0 || len(out) == n-1 && end < len(line)-1 {
			return append(out, line)
		}
		out = append(out, line[:end])
		if line = strings.TrimLeftFunc(line[end:], blank); line != "" && strings.IndexByte(seps, line[0]) >= 0 {
			line = strings.TrimLeftFunc(line[1:], blank)
		}
	}
	return out
}

// Characters is the characters of a set of tr; false when it has classes.
func Characters(s string) (string, bool) {
	s, _ = quoting.EchoEscapes(s)
	if strings.Contains(s, "[:") || strings.Contains(s, "[=") || len(s) > 512 {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
			for ch := int(s[i]); ch <= int(s[i+2]); ch++ {
				b.WriteByte(byte(ch))
			}
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// SliceRange is the part of n characters or values that ${x:from:length} means.
func SliceRange(from, length int64, bounded bool, n int) (start, end int, ok bool) {
	if from < 0 {
		from += int64(n)
	}
	if from < 0 || from > int64(n) {
		return 0, 0, true
	}
	to := int64(n)
	if bounded && length >= 0 {
		to = min(to, from+min(length, int64(n)))
	} else if bounded {
		to += length
	}
	return int(from), int(to), to >= from
}

// Unquoted removes the backslashes that mean something in double quotes.
func Unquoted(text string) string {
	out, _ := quoting.Unescape(text, func(rest string) (string, int) {
		switch rest[0] {
		case '\n':
			return "", 1
		case '$', '`', '"', '\\':
			return rest[:1], 1
		}
		return `\` + rest[:1], 1
	})
	return out
}

// Replace is ${s/pattern/with}, or ${s//pattern/with} for all. Patterns with wildcards are
// tried at every place, the longest match first, as bash does.
func Replace(s, pattern, with string, all bool) string {
	anchor := byte(0)
	if pattern != "" && !all && (pattern[0] == '#' || pattern[0] == '%') {
		anchor, pattern = pattern[0], pattern[1:]
	}
	switch {
	case pattern == "" && anchor == '#':
		return with + s
	case pattern == "" && anchor == '%':
		return s + with
	case pattern == "":
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		end := MatchAt(s, i, pattern, anchor)
		if end <= i {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(with)
		i = end
		if !all {
			b.WriteString(s[i:])
			break
		}
	}
	return b.String()
}

// Extended reports whether a text has a pattern of extglob that no other pattern marks: !(a|b).
func Extended(text string) bool {
	i := strings.IndexAny(text, "!@+")
	return i >= 0 && i+1 < len(text) && (text[i+1] == '(' || Extended(text[i+1:]))
}

package posix

import (
	"strings"
	"unicode/utf8"
)

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

package posix

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
)

// doubleBang is `! !`, which bash runs and the parser does not take.
var doubleBang = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[;&|(){}\n]|\b(?:then|do|else)\b)([ \t]*)!([ \t]+!)+([ \t])`)
})

// placeholder is a word as documentation writes one that is to be filled in:
// <name>. Where a shell can read it, it is a redirection.
var placeholder = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`<([A-Za-z][A-Za-z0-9_.-]*)>`) })

// workflowExpr is an expression of a CI workflow, which is put in before a shell
// sees the line.
var workflowExpr = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\$\{\{[^{}]*\}\}|<<[ ]?[a-z][\w.]*[ ]?>>`) })

// openHeredoc names the delimiter of a here-document that has no end.
var openHeredoc = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`unclosed here-document (?:'|"|` + "`" + `)?([^'"` + "`" + `]+)`)
})

// Repair gives text that means what bash makes of text that does not parse.
func Repair(text string, err error) (string, bool) {
	fixed := text
	if strings.Contains(text, "!") { // the expression is slow where nothing matches
		fixed = doubleBang().ReplaceAllString(text, "$1$2!$4")
	}
	if strings.Contains(text, "((") { // two groups that begin together, which the parser takes for arithmetic
		fixed = strings.ReplaceAll(fixed, "((", "( (")
	}
	if strings.Contains(text, "${{") || strings.Contains(text, ">>") {
		fixed = workflowExpr().ReplaceAllString(fixed, "$${WORKFLOW_EXPRESSION}")
	}
	if strings.Contains(text, "<") {
		fixed = placeholder().ReplaceAllString(fixed, "$1")
	}
	if m := openHeredoc().FindStringSubmatch(err.Error()); m != nil {
		fixed = strings.TrimRight(fixed, "\n") + "\n" + m[1] + "\n"
	}
	return fixed, fixed != text
}

package shell

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

// runBroken reads what the parser does not take. What bash would run all the
// same is put right; the rest is read piece by piece, and is an effect of kind
// unknown.
func (a *analysis) runBroken(text string, err error, fr *shFrame) {
	if fixed, ok := repair(text, err); ok {
		if file, err := parseBash(fixed); err == nil {
			fr.src = fixed
			a.stmts(file.Stmts, fr)
			return
		}
	}
	a.unknown(fr, shellUnparsed, max(fr.base, 0))
	in := fr.within("unparsed")
	if in.base < 0 {
		in.base = 0
	}
	in.conditional = true
	for i, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n;|&()`{}", r) }) { // where a command may end, whatever is quoted
		if i >= maxFields || a.full {
			return
		}
		a.piece(piece, in)
	}
}

// repair gives text that means what bash makes of text that does not parse.
func repair(text string, err error) (string, bool) {
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

// piece reads one piece: as code if it is, else as words.
func (a *analysis) piece(text string, fr *shFrame) {
	text = strings.TrimSpace(text)
	for _, word := range []string{"! ", "then ", "do ", "else ", "if ", "while ", "until ", "time ", "$ "} {
		text = strings.TrimPrefix(text, word)
	}
	if text == "" || !a.spend(fr) {
		return
	}
	if file, err := parseBash(text); err == nil {
		in := *fr
		in.src = text
		a.stmts(file.Stmts, &in)
		return
	}
	var words []Word
	for field := range strings.FieldsSeq(text) {
		field = strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(field)
		if field != "" && len(words) < maxFields {
			words = append(words, shValue{{text: field}}.word())
		}
	}
	if len(words) > 0 {
		a.run(&shCall{argv: words, fr: fr, offset: fr.base})
	}
}

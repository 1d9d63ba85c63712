package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/posix"
)

// runBroken reads what the parser does not take. What bash would run all the
// same is put right; the rest is read piece by piece, and is an effect of kind
// unknown.
func (a *analysis) runBroken(text string, err error, fr *shFrame) {
	if fixed, ok := posix.Repair(text, err); ok {
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
	for _, field := range strings.Fields(text) {
		field = strings.NewReplacer(`"`, "", `'`, "", `\`, "").Replace(field)
		if field != "" && len(words) < maxFields {
			words = append(words, shValue{{text: field}}.word())
		}
	}
	if len(words) > 0 {
		a.run(&shCall{argv: words, fr: fr, offset: fr.base})
	}
}

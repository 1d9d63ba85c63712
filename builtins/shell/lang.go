package shell

import "github.com/hookc/hookc/builtins/tokens"

// shellCode means code of the shell among languages, anyCode for that of a
// language that has no reader here: of its strings it is told what the names around
// them do with such.
const (
	shellCode tokens.Lang = 100 + iota
	anyCode
)

// langCode is a program being looked at.
type langCode struct {
	lang   tokens.Lang
	tokens []tokens.Token
	pos    int
	depth  int
	vars   map[string]langValue
	// names are what imports call things: sp is subprocess.
	names map[string]string
	found []langCall
	// listed are the folders and patterns whose names are read, handed the paths
	// that are given to what is not known.
	listed, handed []langValue
	// cut is true when the program is longer than what was looked at.
	cut bool
}

// readLang cuts code into tokens and finds its calls.
func readLang(lang tokens.Lang, text string) *langCode {
	p := &langCode{lang: lang, vars: map[string]langValue{}, names: map[string]string{}}
	p.tokens, p.cut = tokens.Scan(lang, text)
	p.program()
	return p
}

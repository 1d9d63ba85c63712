package shell

import "github.com/hookc/hookc/builtins/tokens"

type langKind = tokens.Lang

const (
	langPython = tokens.Python
	langJS     = tokens.JS
	langPerl   = tokens.Perl
	langRuby   = tokens.Ruby
	langPHP    = tokens.PHP
	langLua    = tokens.Lua
	langAwk    = tokens.Awk

	// shellCode stands for code of the shell among languages.
	shellCode langKind = 100
)

const (
	tokName    = tokens.Name
	tokString  = tokens.String
	tokCommand = tokens.Command
	tokNumber  = tokens.Number
	tokPunct   = tokens.Punct
	tokEnd     = tokens.End
)

// langCode is a program being looked at.
type langCode struct {
	lang   langKind
	tokens []tokens.Token
	pos    int
	depth  int
	vars   map[string]langValue
	// names are what imports call things: sp is subprocess.
	names map[string]string
	found []langCall
	// listed are the folders and patterns whose names are read.
	listed []langValue
	// cut is true when the program is longer than what was looked at.
	cut bool
}

// readLang cuts code into tokens and finds its calls.
func readLang(lang langKind, text string) *langCode {
	p := &langCode{lang: lang, vars: map[string]langValue{}, names: map[string]string{}}
	p.tokens, p.cut = tokens.Scan(lang, text)
	p.program()
	return p
}

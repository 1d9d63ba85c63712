package calls

import "github.com/hookc/hookc/builtins/tokens"

// Code is a program being looked at.
type Code struct {
	lang tokens.Lang
	// Tokens are what the program consists of.
	Tokens []tokens.Token
	pos    int
	depth  int
	vars   map[string]Value
	// names are what imports call things: sp is subprocess.
	names map[string]string
	// Found are its calls.
	Found []Call
	// Listed are the folders and patterns whose names are read, Handed the paths
	// that are given to what is not known.
	Listed, Handed []Value
	// Cut is true when the program is longer than what was looked at.
	Cut bool
}

// Parse cuts code into tokens and finds its calls.
func Parse(lang tokens.Lang, text string) *Code {
	p := &Code{lang: lang, vars: map[string]Value{}, names: map[string]string{}}
	p.Tokens, p.Cut = tokens.Scan(lang, text)
	p.program()
	return p
}

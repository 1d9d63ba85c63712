// Package pattern compiles the patterns of filters: regular expressions in a
// named flavour, and globs. The compiler turns what this package makes into
// the atoms of a policy.Matcher; policy itself stays on the standard library.
package pattern

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
)

// Pattern is a compiled pattern. It is immutable and safe for concurrent use.
type Pattern struct {
	text  string
	match func(string) bool
	// re2 is an expression of RE2 that finds literal text alike, or "".
	re2 string
	// backtracks is true when matching may be given up, which counts as a
	// match: only on a text that begins as the pattern does.
	backtracks bool
}

// Match reports whether the pattern matches s. It is total: a flavour that can
// give up on a text answers yes, so that a guard is rather run than skipped.
//
//go:noinline
func (p *Pattern) Match(s string) bool { return p.match(s) }

// String is the pattern as written.
func (p *Pattern) String() string { return p.text }

// Error says why a pattern cannot be used. Start and End are the bytes of the
// pattern that are at fault.
type Error struct {
	Text, Hint string
	Start, End int
}

func (e *Error) Error() string { return e.Text }

// Flavour is one language of regular expressions. Canonical files are written
// in RE2; a dialect whose agent uses another language brings its flavour as
// one more value.
type Flavour struct {
	Name string
	// compile returns the unanchored test of a pattern, or an *Error. The
	// test must be bounded in time, total, and safe for concurrent use.
	compile func(text string) (func(string) bool, *Error)
	// alike finds the patterns whose literal texts and anchors mean what they
	// mean in RE2, on every text.
	alike func() *regexp.Regexp
	// backtracks is true when a pattern that is alike may yet be matched by an
	// engine that gives up.
	backtracks bool
}

// Compile makes an unanchored pattern. The error is an *Error.
func (f *Flavour) Compile(text string) (*Pattern, error) {
	match, err := f.compile(text)
	if err != nil {
		return nil, err
	}
	p := &Pattern{text: text, match: match, backtracks: f.backtracks}
	if f.alike().MatchString(text) {
		p.re2 = text
	}
	return p, nil
}

// RE2 is the flavour of canonical files: linear in time, no look-around, no
// backreferences.
var RE2 = &Flavour{Name: "re2", compile: compileRE2, alike: lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(``) })}

func compileRE2(text string) (func(string) bool, *Error) {
	re, err := regexp.Compile(text)
	if err == nil {
		return re.MatchString, nil
	}
	out := &Error{Text: err.Error(), End: len(text)}
	var bad *syntax.Error
	if errors.As(err, &bad) {
		out.Text = string(bad.Code)
		if bad.Expr != "" {
			out.Text += ": " + bad.Expr
		}
		if i := strings.Index(text, bad.Expr); i >= 0 && bad.Expr != "" {
			out.Start, out.End = i, i+len(bad.Expr)
		}
	}
	if at := beyondRE2().FindStringIndex(text); at != nil {
		out.Start, out.End = at[0], at[1]
		out.Hint = "RE2 has no look-around, backreferences or atomic groups: match what is wanted here and test the rest in the hook's body"
	}
	return nil, out
}

// beyondRE2 finds what other flavours have and RE2 has not.
var beyondRE2 = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\(\?<?[=!]|\(\?>|\\[1-9]|\\k<`) })

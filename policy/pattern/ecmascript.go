package pattern

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/dlclark/regexp2"

	"github.com/hookc/hookc/internal/lazy"
)

// ECMAScript is the flavour of agents written in JavaScript: new RegExp(text)
// without flags, as Node 20 reads it (ECMA-262 with Annex B). What needs no
// look-around and no backreference is matched in linear time. Anything else may
// take exponential time, so a match is given up after matchTimeout, and then
// counts as one.
var ECMAScript = &Flavour{Name: "ecmascript", compile: compileECMAScript, alike: jsAlike, backtracks: true}

// jsAlike are the patterns without escapes, classes and counts.
var jsAlike = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_ \-:/.|^$()*+?]*$`) })

// matchTimeout bounds one match of a pattern that backtracks.
const matchTimeout = 50 * time.Millisecond

// compileECMAScript reads the pattern by JavaScript's own grammar and writes
// it again, in constructs that mean the same to the engine that matches it.
func compileECMAScript(text string) (func(string) bool, *Error) {
	p := newJSParser(text)
	whole, err := p.pattern()
	if err != nil {
		return nil, err
	}
	backtrack := lazy.Value(func() func(string) bool { return backtracking(whole.full) })
	if whole.hard {
		return backtrack(), nil
	}
	re, bad := regexp.Compile(whole.linear)
	if bad != nil {
		return backtrack(), nil // a count beyond what RE2 takes
	}
	return func(s string) bool {
		if !ascii(s) {
			return backtrack()(s)
		}
		return re.MatchString(s)
	}, nil
}

// backtracking matches UTF-16 code units, as JavaScript does.
func backtracking(text string) func(string) bool {
	re, err := regexp2.Compile(text, regexp2.None)
	if err != nil {
		panic("pattern: the translation " + text + " cannot be read: " + err.Error())
	}
	re.MatchTimeout = matchTimeout
	return func(s string) bool {
		ok, err := re.MatchRunes(units(s))
		return ok || err != nil
	}
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// units are the code units of s, each as a rune.
func units(s string) []rune {
	var out []rune
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, rune(u))
	}
	return out
}

// WholeECMAScript makes a pattern of the flavour that must match the whole of
// a text. The error is an *Error.
func WholeECMAScript(text string) (*Pattern, error) {
	if _, err := newJSParser(text).pattern(); err != nil {
		return nil, err
	}
	p, err := ECMAScript.Compile("^(?:" + text + ")$")
	if err != nil {
		return nil, err
	}
	p.text = text
	return p, nil
}

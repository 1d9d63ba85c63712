package pattern

import (
	"regexp"
	"strings"

	"github.com/dlclark/regexp2"

	"github.com/hookc/hookc/internal/lazy"
)

// Python is the flavour of agents written in Python, as its module re has it:
// with look-around and backreferences, so a match is given up after a while,
// and then counts as one.
var Python = &Flavour{Name: "python", compile: compilePython, alike: pythonPlain}

// pythonPlain is what RE2 reads alike: nothing special, nothing that is an
// error in one of the two. The end of a text is not the same in both.
var pythonPlain = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_ \-:/.|^()]*$`) })

// pythonGroups are the forms of named groups and references to them that are
// Python's own.
var pythonGroups = strings.NewReplacer("(?P<", "(?<")

// pythonRefers finds a reference to a named group, to be closed with >.
var pythonRefers = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\(\?P=([A-Za-z_][A-Za-z0-9_]*)\)`) })

func compilePython(text string) (func(string) bool, *Error) {
	if pythonPlain().MatchString(text) {
		if re, err := regexp.Compile(text); err == nil {
			return re.MatchString, nil
		}
	}
	native := pythonGroups.Replace(pythonRefers().ReplaceAllString(text, `\k<$1>`))
	native = strings.ReplaceAll(native, `\Z`, `\z`)
	re, err := regexp2.Compile(native, regexp2.None)
	if err != nil {
		return nil, &Error{Text: strings.TrimPrefix(err.Error(), "error parsing regexp: "), End: len(text)}
	}
	re.MatchTimeout = matchTimeout
	return func(s string) bool {
		ok, err := re.MatchString(s)
		return ok || err != nil
	}, nil
}

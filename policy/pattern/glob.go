package pattern

import (
	"github.com/bmatcuk/doublestar/v4"
)

// Glob compiles a glob over slash-separated names: * and ? within a part, **
// across parts, [a-z] and {a,b}. A pattern matches a whole name, letter case
// included, on every system. The error is an *Error.
func Glob(text string) (*Pattern, error) {
	if !doublestar.ValidatePattern(text) {
		return nil, &Error{Text: "the glob has an unclosed or empty [ ] or { }", End: len(text)}
	}
	return &Pattern{text: text, match: func(name string) bool { return doublestar.MatchUnvalidated(text, name) }}, nil
}

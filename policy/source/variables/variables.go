// Package variables puts the values of variables into the texts of
// settings, and tells whether an environment still has those values.
package variables

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// Lookup is a variable of an environment; of several the last, as exec has it.
//
//go:noinline
func Lookup(environ []string, name string) (value string, set bool) {
	for _, kv := range environ {
		if rest, ok := spell.CutPrefix(kv, name+"="); ok {
			value, set = rest, true
		}
	}
	return value, set
}

// Same reports whether the variables in the texts of files have in an
// environment the values that the files were read with.
func Same(sources []policy.SourceFile, environ []string) bool {
	for _, s := range sources {
		for _, v := range s.Variables {
			if now, set := Lookup(environ, v.Name); !set || now != v.Value {
				return false
			}
		}
		for _, name := range s.Unset {
			if _, set := Lookup(environ, name); set {
				return false
			}
		}
	}
	return true
}

// reference is $NAME, ${NAME} or ${NAME:-default}, and braced what an extension's own
// variables stand in.
var reference, braced = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})`) }),
	lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\$\{(.*?)\}`) })

// Expand replaces the names of variables. One that get does not know stays as it is
// written, or is its default where an agent knows defaults.
func Expand(text string, defaults bool, get func(name string) (string, bool)) string {
	return reference().ReplaceAllStringFunc(text, func(match string) string {
		m := reference().FindStringSubmatchIndex(match)
		name, fallback := strings.Trim(match, "${}"), match
		switch {
		case !defaults && m[4] >= 0:
			name = match[2 : len(match)-1] // with all that stands in the braces
		case m[4] >= 0:
			name = match[m[4]:m[5]]
			if m[6] >= 0 {
				fallback = match[m[6]:m[7]]
			}
		}
		if value, set := get(name); set {
			return value
		}
		return fallback
	})
}

// Fill replaces ${NAME} by what values has of it, and ${/} by what separates folders.
func Fill(text string, values map[string]string) string {
	return braced().ReplaceAllStringFunc(text, func(match string) string {
		switch name := match[2 : len(match)-1]; name {
		case "/", "pathSeparator":
			return string(filepath.Separator)
		default:
			if value, set := values[name]; set {
				return value
			}
		}
		return match
	})
}

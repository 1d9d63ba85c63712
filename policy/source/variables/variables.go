// Package variables compares the variables of the environment that stand in the texts of
// settings with an environment.
package variables

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// Lookup is a variable of an environment; of several the last, as exec has it.
func Lookup(environ []string, name string) (value string, set bool) {
	for _, kv := range environ {
		if rest, ok := strings.CutPrefix(kv, name+"="); ok {
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

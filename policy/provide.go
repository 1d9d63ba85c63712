package policy

import (
	"path/filepath"

	"github.com/hookc/hookc/internal/paths"
)

// ProjectRoot returns the nearest ancestor of dir, dir included, that holds
// .git or .hookc, else dir itself (semantics.md §1.3). It looks at the disk.
func ProjectRoot(dir string) string {
	for d := filepath.Clean(dir); ; {
		if paths.Marked(d) {
			return d
		}
		up := filepath.Dir(d)
		if up == d {
			return dir
		}
		d = up
	}
}

// Provider computes a derived field from a Context; false makes it absent.
type Provider func(*Context) (any, bool)

var providers [numFields]Provider

// Provide registers the provider of a derived field. Package builtins calls
// it while loading; a second provider of one field panics.
func Provide(f Field, p Provider) {
	if !f.Derived() || providers[f] != nil {
		panic("policy: field " + f.String() + " cannot be provided")
	}
	providers[f] = p
}

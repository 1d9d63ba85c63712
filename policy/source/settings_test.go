package source

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy/diag"
)

// An agent's own configuration is read as such, whatever its format's name:
// most of it is JSON, which hooks.yaml may be as well.
func TestConfigurationsGoByTheirNames(t *testing.T) {
	for _, s := range agents {
		for _, name := range s.files {
			file := &File{Name: name, Path: filepath.FromSlash("/p/" + name)}
			var got []string
			for _, f := range (&Loader{}).readers(file, "", diag.Span{}) {
				got = append(got, f.Name)
			}
			assert.Equal(t, []string{s.id}, got, "%s", name)
		}
	}
}

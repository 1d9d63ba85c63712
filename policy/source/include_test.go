package source

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A glob that looks at too much is a finding and includes nothing.
func TestIncludeLooksAtSoMuch(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"hooks.yaml": "include: [\"**/*.yaml\"]\n" + one("own"), "a/more.yaml": one("more")})
	files, folders, err := includeGlob(filepath.Join(dir, "*", "*.yaml"), usual.looked)
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "a", "more.yaml")}, files)
	assert.Equal(t, []string{dir, filepath.Join(dir, "a")}, folders)
	few := usual
	few.looked = 20
	for i := range few.looked {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "a", fmt.Sprint(i)), 0o755))
	}
	p, found := Load(Options{Inputs: []Input{{Path: filepath.Join(dir, "hooks.yaml")}}, limits: &few})
	require.True(t, found.HasErrors())
	assert.Equal(t, "HK004", found[0].Code.ID)
	assert.Contains(t, found[0].Text, "looks at more than 20 files and folders")
	assert.Len(t, p.Hooks, 1)
}

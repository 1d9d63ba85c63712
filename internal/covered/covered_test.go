package covered

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKept: what was reached is that of the text it was reached of, and of no other.
func TestKept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	path, other := filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "other.yaml")
	assert.Nil(t, Of(path, "a"))
	require.NoError(t, Keep(path, "a", Lines{3: true, 4: false}))
	require.NoError(t, Keep(other, "a", Lines{1: true}))
	assert.Equal(t, Lines{3: true, 4: false}, Of(path, "a"))
	assert.Nil(t, Of(path, "b"))
	require.NoError(t, Keep(path, "b", Lines{}))
	assert.Nil(t, Of(path, "a"))
	assert.Equal(t, Lines{1: true}, Of(other, "a"))

	// What is no such record counts for nothing, and is written anew.
	spoilt := 0
	require.NoError(t, filepath.WalkDir(os.Getenv("XDG_STATE_HOME"), func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasPrefix(d.Name(), slot) {
			spoilt++
			return os.WriteFile(name, []byte("{"), 0o600)
		}
		return err
	}))
	require.NotZero(t, spoilt)
	assert.Nil(t, Of(other, "a"))
	require.NoError(t, Keep(other, "a", Lines{2: true}))
	assert.Equal(t, Lines{2: true}, Of(other, "a"))
}

package hookc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
)

// The hash of a policy says what it means, facts included, and nothing of where
// its file lies.
func TestHashIsOfTheMeaning(t *testing.T) {
	hash := func(text string) string {
		dir := t.TempDir()
		path := filepath.Join(dir, "hooks.yaml")
		require.NoError(t, os.Mkdir(filepath.Join(dir, "scripts"), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		eng, err := hookc.Open(t.Context(), hookc.Files(path))
		require.NoError(t, err)
		defer eng.Close()
		return eng.Program().Hash
	}
	const hooks = "notify:\n  - {command: ./run, cwd: scripts}\n"
	assert.Equal(t, hash(hooks), hash(hooks), "in another folder")
	assert.NotEqual(t, hash(hooks), hash("notify:\n  - {command: ./run}\n"), "another working folder")
	team := "facts: {team: string}\n" + hooks
	assert.NotEqual(t, hash(hooks), hash(team), "a fact")
	assert.NotEqual(t, hash(team), hash("facts: {team: {list: string}}\n"+hooks), "its type")
}

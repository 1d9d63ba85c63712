package decide

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDebugIntoNoOtherFile: HOOKC_DEBUG, which who wrote the project may set, puts nothing
// into a file that something else reads: hidden ones, others' files, and links to them.
func TestDebugIntoNoOtherFile(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	for _, name := range []string{".ssh", ".config/hookc", "home"} {
		require.NoError(t, os.MkdirAll(name, 0o700))
	}
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(".bashrc", "# mine\n")
	write(".empty", "")
	write("hooks.yaml", "stop: []\n")
	write("records", "{\"hook\":1}\n")
	for link, to := range map[string]string{"link.log": ".bashrc", "gone.log": ".profile", "folder": ".ssh", "plain": "hooks.yaml"} {
		require.NoError(t, os.Symlink(to, link))
	}
	for _, path := range []string{".bashrc", ".empty", ".profile", filepath.Join(dir, ".zshenv"), "home/../.bashrc", "hooks.yaml", ".config/hookc/hooks.yaml", ".ssh/authorized_keys",
		"link.log", "gone.log", "folder/authorized_keys", "plain", "home"} {
		before, _ := os.ReadFile(path)
		f, err := openDebug(path)
		assert.Error(t, err, path)
		if f != nil {
			f.Close()
		}
		after, _ := os.ReadFile(path)
		assert.Equal(t, before, after, path)
	}
	assert.NoFileExists(t, ".profile")
	for _, path := range []string{"debug", "debug.log", "home/debug.jsonl", ".config/debug.log", "records", "/dev/null", filepath.Join(dir, "debug.txt")} {
		f, err := openDebug(path)
		if assert.NoError(t, err, path) {
			f.Close()
		}
	}
}

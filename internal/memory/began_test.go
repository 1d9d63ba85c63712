package memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// TestAroundIsWhereTheFolderIs: by whatever name an event calls the folder it is in, the
// projects of that folder decide.
func TestAroundIsWhereTheFolderIs(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	project := filepath.Join(top, "project")
	require.NoError(t, os.MkdirAll(filepath.Join(project, "sub", "deep"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(project, "sub"), filepath.Join(top, "link")))
	for _, name := range []string{"/project", "/project/sub/..", "/link/..", "/link/deep/../..", "/project/sub/deep/../../", "/link/../sub/.."} {
		around := Around(policy.NewContext(policy.PreToolExecution).Set(policy.FieldCwd, top+name).Frozen(policy.PreToolExecution))
		assert.Contains(t, around, project, name)
	}
}

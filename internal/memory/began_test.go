package memory

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		around, _ := Around(policy.NewContext(policy.PreToolExecution).Set(policy.FieldCwd, top+name).Frozen(policy.PreToolExecution))
		assert.Contains(t, around, project, name)
	}
}

// TestSessionsMadeUp: sessions that somebody makes up do not make hookc forget where
// another began, nor what it has counted.
func TestSessionsMadeUp(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	at := func(session, cwd string) ([]string, []policy.Warning) {
		return Around(policy.NewContext(policy.PreToolExecution).Set(policy.FieldSessionID, session).Set(policy.FieldCwd, cwd).Frozen(policy.PreToolExecution))
	}
	_, told := at("mine", "/project")
	assert.Empty(t, told)
	for i := range maxBegan + 10 {
		_, told = at(fmt.Sprint("made up ", i), fmt.Sprint("/elsewhere/", i))
	}
	require.Len(t, told, 1, "one that is not remembered says so")
	assert.Equal(t, codeNoState, told[0].Code)
	around, told := at("mine", "/tmp")
	assert.Contains(t, around, "/project")
	assert.Empty(t, told)

	m := Open("/project")
	c := counts{m: m}
	spend := func(old string) string { return old + "x" }
	require.Equal(t, "x", c.Count("mine", spend))
	require.NoError(t, m.update(countsFile, func(data []byte) ([]byte, error) {
		all := records(data)
		for i := range maxCounts - 1 {
			all = append(all, record{fmt.Sprint("made up ", i), []byte("x"), time.Now().Unix()})
		}
		return json.Marshal(all)
	}))
	assert.Empty(t, c.Count("one more", spend), "it is not counted, and so it is refused")
	assert.Error(t, m.Trouble())
	assert.Equal(t, "xx", c.Count("mine", spend))
}

// TestOldSessionsGo: what began long ago makes room.
func TestOldSessionsGo(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	then := time.Now().Add(-maxAge - time.Hour)
	for i := range maxBegan {
		_, err := began(fmt.Sprint(i), "/old", then)
		require.NoError(t, err)
	}
	dir, err := began("new", "/new", time.Now())
	require.NoError(t, err)
	assert.Equal(t, "/new", dir)
}

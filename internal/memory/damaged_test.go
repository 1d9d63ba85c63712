package memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// damages are what may become of a file.
func damages(whole []byte) [][]byte {
	out := [][]byte{{}, []byte("{}"), []byte("null"), append([]byte(nil), append(whole, '\n')...)}
	for at := 1; at < len(whole); at += 7 {
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 1
		out = append(out, whole[:at:at], flipped)
	}
	return out
}

// budget decides calls of one session by a budget of two, each as a process of its own
// would, in the project at root.
func budget(t *testing.T, tier policy.Tier) (root string, permits func() (bool, []policy.Warning)) {
	root = t.TempDir()
	text := filepath.Join(root, "hooks.yaml")
	require.NoError(t, os.WriteFile(text, []byte("pre_tool_execution:\n  - {name: calls, use: budget-guard, max_calls: 2}\n"), 0o600))
	return root, func() (bool, []policy.Warning) {
		m := Open(root)
		eng, err := hookc.Open(t.Context(), hookc.Files(tier.String()+"="+text))
		require.NoError(t, err)
		defer eng.Close()
		d, err := eng.PreTool(m.Counting(t.Context(), nil), hookc.Call{Tool: "Bash", Where: hookc.Where{SessionID: "s"}, Input: map[string]any{"command": "ls"}})
		require.NoError(t, err)
		return d.Permits(), append(m.Warnings(), d.Warnings...)
	}
}

// A call whose count cannot be written does not go ahead: a disk that is full would be
// a budget without an end. Here something stands where the new content would be written.
func TestWhatIsNotWrittenIsNotCounted(t *testing.T) {
	for _, tier := range []policy.Tier{policy.TierProject, policy.TierManaged} {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		_, permits := budget(t, tier)
		got, _ := permits()
		require.True(t, got)
		var files []string
		require.NoError(t, filepath.WalkDir(os.Getenv("XDG_STATE_HOME"), func(path string, d os.DirEntry, err error) error {
			if filepath.Base(path) == countsFile {
				files = append(files, path)
			}
			return err
		}))
		require.Len(t, files, 1)
		require.NoError(t, os.MkdirAll(filepath.Join(files[0]+".tmp", "full"), 0o700))
		for range 5 {
			got, warnings := permits()
			assert.False(t, got, "%s", tier)
			assert.NotEmpty(t, warnings, "%s", tier)
		}
		require.NoError(t, os.RemoveAll(files[0]+".tmp"))
		got, warnings := permits()
		assert.True(t, got, "%s: one of two was counted", tier)
		assert.Empty(t, warnings, "%s", tier)
	}
}

// A spent budget stays spent, whatever becomes of the file it is counted in, and the
// Decision says what is wrong with the file.
func TestDamagedCountsGiveNothingBack(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root, permits := budget(t, policy.TierProject)
	for _, want := range []bool{true, true, false} {
		got, warnings := permits()
		require.Equal(t, want, got)
		require.Empty(t, warnings)
	}
	file := filepath.Join(Open(root).Path(), countsFile)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, damaged := range damages(whole) {
		require.NoError(t, os.WriteFile(file, damaged, 0o600))
		got, warnings := permits()
		assert.False(t, got, "%q", damaged)
		if assert.Len(t, warnings, 1, "%q", damaged) {
			assert.Contains(t, warnings[0].Text, countsFile)
		}
	}
	require.NoError(t, os.Remove(file))
	got, warnings := permits()
	assert.True(t, got, "it is counted from nothing")
	assert.Empty(t, warnings)
}

// A file that begins again is told of, once.
func TestDamageIsTold(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root := t.TempDir()
	m := Open(root)
	gates{m}.Blocked("s", policy.StopEvent)
	file := filepath.Join(m.Path(), gatesFile)
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	m = Open(root)
	assert.Equal(t, 1, gates{m}.Blocked("s", policy.StopEvent))
	if warnings := m.Warnings(); assert.Len(t, warnings, 1) {
		assert.Contains(t, warnings[0].Text, file+" was damaged")
	}
	assert.Empty(t, m.Warnings())
	assert.Equal(t, 2, gates{m}.Blocked("s", policy.StopEvent))
}

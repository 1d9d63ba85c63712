package memory

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/gate/table"
)

// TestRuns: hookgate's lines are counted once, whoever looks meanwhile, and what is
// no line is passed over.
func TestRuns(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	m := Open("/nowhere/project")
	require.NoError(t, os.MkdirAll(m.Path(), 0o700))
	lines := "pre_tool_execution\ta\t1000\nstop\tb\t2000\npre_tool_execution\ta\t3000\n" +
		"nothing\ta\t1\npre_tool_execution\ta\n\npre_tool_execution\ta\t-1\npre_tool_execution\t\t1\npre_tool_execution\ta\tx\n\x00\xff\t\t\npre_tool_execution\ta\t5"
	require.NoError(t, os.WriteFile(filepath.Join(m.Path(), table.Runs), []byte(lines), 0o600))
	runs := func() (out []any) {
		for _, h := range m.Counters() {
			out = append(out, string(h.Event)+" "+h.Hook, h.Runs, int64(h.Total))
		}
		return out
	}
	want := []any{"pre_tool_execution a", int64(2), int64(4000), "stop b", int64(1), int64(2000)}
	assert.Equal(t, want, runs())
	assert.Equal(t, want, runs())
	now := &hookc.Metrics{}
	now.Ran("stop", "b", 5000)
	m.Save(now)
	want[4], want[5] = int64(2), int64(7000)
	assert.Equal(t, want, runs())
	assert.NoFileExists(t, filepath.Join(m.Path(), table.Runs))
	m.Save(now)
	want[4], want[5] = int64(3), int64(12000)
	assert.Equal(t, want, runs())
	require.NoError(t, m.Trouble())
}

package processes

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLeftBehind: one that lives is found, one that was killed is not, however
// long it takes to go.
func TestLeftBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has this /proc")
	}
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), "FAULT_MARK=processes-test")
	require.NoError(t, cmd.Start())
	assert.Len(t, LeftBehind("processes-test"), 1)
	assert.Len(t, Children(), 1)
	require.NoError(t, cmd.Process.Kill())
	assert.Empty(t, LeftBehind("processes-test"))
	require.Error(t, cmd.Wait())
	assert.Empty(t, Children())
}

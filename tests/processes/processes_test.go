package processes

import (
	"fmt"
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
	mark := fmt.Sprint("processes-test-", os.Getpid()) // another run of this test on the machine has another
	cmd := exec.Command("cat")
	cmd.Env = append(os.Environ(), "FAULT_MARK="+mark)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = in.Write([]byte("."))
	require.NoError(t, err)
	_, err = out.Read(make([]byte, 1)) // its environment is in place when it runs
	require.NoError(t, err)
	assert.Len(t, LeftBehind(mark), 1)
	assert.Len(t, Children(), 1)
	require.NoError(t, cmd.Process.Kill())
	assert.Empty(t, LeftBehind(mark))
	require.Error(t, cmd.Wait())
	assert.Empty(t, Children())
}

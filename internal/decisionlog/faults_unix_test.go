//go:build unix

package decisionlog

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func init() {
	if os.Getenv("DECISIONLOG_CHILD") != "" {
		signal.Ignore(syscall.SIGXFSZ) // the write fails then, as on a full disk
	}
}

// TestNoRoom: a process whose files may not grow says so, and what it was told is
// written is there; the next one goes on.
func TestNoRoom(t *testing.T) {
	for _, blocks := range []string{"8", "11", "16"} {
		dir := t.TempDir()
		c := exec.Command("sh", "-c", `ulimit -f `+blocks+`; exec "$0" -test.run='^$'`, os.Args[0])
		c.Env = append(os.Environ(), "DECISIONLOG_CHILD="+dir, "DECISIONLOG_N=0", "DECISIONLOG_ONE_FILE=1")
		said, err := c.Output()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s", said)
		require.Equal(t, 1, exit.ExitCode(), "%s", said)
		require.Contains(t, string(said), "file too large")
		v, err := verified(t, dir)
		require.NoError(t, err)
		require.Empty(t, v.Torn, "what did not fit was taken back")
		had := len(decisions(t, dir))
		require.Positive(t, had)
		w := started(t, dir, Options{Durable: true})
		require.NoError(t, w.Add(t.Context(), decided(1, "ls")))
		require.NoError(t, w.Close())
		_, err = verified(t, dir)
		require.NoError(t, err)
		require.Len(t, decisions(t, dir), had+1)
	}
}

// TestFullDisk is TestNoRoom on a file system of 64 kB, where one may be made.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	script := `mount -t tmpfs -o size=64k none "$DECISIONLOG_CHILD" || exit 77
"$0" -test.run='^$' > "$SAID"; echo $? >> "$SAID"
cp -r "$DECISIONLOG_CHILD/." "$COPY"`
	copied, said := t.TempDir(), filepath.Join(t.TempDir(), "said")
	c := exec.Command("unshare", "-Urm", "sh", "-c", script, os.Args[0])
	c.Env = append(os.Environ(), "DECISIONLOG_CHILD="+dir, "DECISIONLOG_N=0", "COPY="+copied, "SAID="+said)
	if err := c.Run(); err != nil {
		var exit *exec.ExitError
		if errors.Is(err, exec.ErrNotFound) || errors.As(err, &exit) && (exit.ExitCode() == 77 || exit.ExitCode() == 1) {
			t.Logf("no file system can be made here: %v; TestNoRoom has the same fault by a limit", err)
			return
		}
		require.NoError(t, err)
	}
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	require.Contains(t, string(text), "no space left on device")
	require.True(t, strings.HasSuffix(string(text), "\n1\n"), "%s", text)
	v, err := verified(t, copied)
	require.NoError(t, err)
	require.Positive(t, v.Entries)
}

// Package deploy has what runs hookcd on a machine.
package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnit: systemd's own checker finds nothing wrong in the unit, and hookcd takes the
// flags that are in it.
func TestUnit(t *testing.T) {
	checker, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not installed")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "hookcd"), "../cmd/hookcd")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile("hookcd.service")
	require.NoError(t, err)
	unit := filepath.Join(dir, "hookcd.service")
	require.NoError(t, os.WriteFile(unit, []byte(strings.Replace(string(text), "/usr/bin/hookcd", filepath.Join(dir, "hookcd"), 1)), 0o600))
	out, err = exec.Command(checker, "verify", unit).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "hookcd.service:", string(out))
	_, line, _ := strings.Cut(string(text), "ExecStart=/usr/bin/hookcd ")
	line, _, _ = strings.Cut(line, "\n")
	out, err = exec.Command(filepath.Join(dir, "hookcd"), strings.Fields(line)...).CombinedOutput()
	require.Error(t, err, "the files are not there")
	require.Contains(t, string(out), "/etc/hookcd/tokens", "the flags are understood, and the first file is looked for")
}

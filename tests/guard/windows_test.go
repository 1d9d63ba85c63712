package guard

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// TestWindows: what PowerShell and cmd would do is judged as what a POSIX shell
// would do, whether the call says so itself or a command line starts them.
func TestWindows(t *testing.T) {
	g := guard(t, "shell-guard", option("packs", "all"))
	data, err := os.ReadFile("windows.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		shell, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		want, command, _ := strings.Cut(rest, " ")
		r := decideIn(t, g, shell, command, root)
		if stopped := r.Verdict != policy.None; stopped != (want == "deny") {
			t.Errorf("%s %q: want %s, got %s %s", shell, command, want, r.Verdict, told(r))
		}
	}
}

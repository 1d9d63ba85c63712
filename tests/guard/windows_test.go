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

// TestWindowsPaths: what PowerShell and cmd write is a path to a guard of paths.
func TestWindowsPaths(t *testing.T) {
	g := guard(t, "path-guard", option("protect", []any{"infra/prod/**"}))
	for _, c := range []struct {
		shell, command string
		stopped        bool
	}{
		{"cmd", `echo x>infra\prod\a`, true},
		{"cmd", `echo x>>infra\prod\a`, true},
		{"cmd", `(echo x)>infra\prod\x`, true},
		{"cmd", `expand a.cab infra\prod\x`, true},
		{"cmd", `sort a /o infra\prod\x`, true},
		{"powershell", `$xml = [xml](gc a.xml); $xml.Save('infra/prod/a.xml')`, true},
		{"powershell", `[IO.Compression.ZipFile]::ExtractToDirectory('a.zip','infra/prod')`, true},
		{"powershell", `[IO.File]::AppendAllLines([string]'infra/prod/b',[string[]]'c')`, true},
		{"powershell", `Start-Transcript -Path infra/prod/x`, true},
		{"cmd", `echo x>notes.txt`, false},
		{"cmd", `(echo x)>notes.txt`, false},
		{"cmd", `sort infra\prod\x`, false},
		{"powershell", `$doc.Save("out.xml")`, false},
		{"powershell", `Start-Transcript`, false},
	} {
		r := decideIn(t, g, c.shell, c.command, root)
		if stopped := r.Verdict != policy.None; stopped != c.stopped {
			t.Errorf("%s %q: want %v, got %s %s", c.shell, c.command, c.stopped, r.Verdict, told(r))
		}
	}
}

package scripts

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// clock is what differs between two runs: how long compiling took.
var clock = regexp.MustCompile(`(compiled in |"compiled_us": ?)[0-9.]+(ns|µs|ms|s)?`)

// golden compares what a command prints, run at the root of the repository
// without any state, with a file. The root itself is written $ROOT, since a
// clone may lie anywhere.
func golden(t *testing.T, file string, args ...string) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(programs.Hookc(t), args...)
	cmd.Dir = "../.."
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "NO_COLOR=1"}
	out, err := cmd.Output()
	require.NoError(t, err, "hookc %s", strings.Join(args, " "))
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	got := clock.ReplaceAllString(strings.ReplaceAll(string(out), root+string(filepath.Separator), "$ROOT/"), "${1}0")
	path := filepath.Join("..", "testdata", "golden", file)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "go test ./tests/scripts -run TestGolden -update writes it")
	assert.Equal(t, string(want), got, "hookc %s: go test ./tests/scripts -run TestGolden -update, and read the diff", strings.Join(args, " "))
}

// TestGoldenList: everything hookc is made of.
func TestGoldenList(t *testing.T) {
	golden(t, "list.text", "list")
	golden(t, "hooks-list.text", "hooks", "list", "-f", "hooks.example.yaml")
}

// TestGoldenHelp: the help of each command, topics included.
func TestGoldenHelp(t *testing.T) {
	root := []string{"compile", "run", "explain", "check", "test", "hooks", "hooks status", "hooks list", "list", "init", "help",
		"version", "completion", "trust", "schema", "convert", "install", "uninstall", "doctor", "serve", "bench", "diff", "replay", "prove", "lint", "lsp", "log", "impact", "approvals", "bundle", "ui", "fmt", "events", "fields", "functions", "postures", "environment", "exit-codes"}
	golden(t, "help/hookc.text", "help")
	for _, name := range root {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, "help/"+strings.ReplaceAll(name, " ", "-")+".text", append([]string{"help"}, strings.Fields(name)...)...)
		})
	}
}

// TestHelpHasExamples: each command shows how it is used.
func TestHelpHasExamples(t *testing.T) {
	out, err := exec.Command(programs.Hookc(t), "__complete", "").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		name, _, command := strings.Cut(line, "\t")
		if !command {
			continue
		}
		text, err := exec.Command(programs.Hookc(t), name, "--help").Output()
		require.NoError(t, err, name)
		assert.Contains(t, string(text), "\nExamples:\n", name)
		assert.FileExists(t, filepath.Join("..", "testdata", "golden", "help", name+".text"), "no golden of its help")
	}
}

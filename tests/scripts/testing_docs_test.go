package scripts

import (
	"bytes"
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

var updateDocs = flag.Bool("update-docs", false, "write what the commands of docs/testing.md print anew")

// TestPagesWithCommands: the commands of these pages print what the page says. A
// block that begins with the name of a file is that file.
func TestPagesWithCommands(t *testing.T) {
	for _, name := range []string{"testing.md", "guide/hooks.md", "guide/trouble.md", "guide/team.md", "guide/rego.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playPage(t, filepath.Join("..", "..", "docs", filepath.FromSlash(name)))
		})
	}
}

func playPage(t *testing.T, name string) {
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	dir := t.TempDir()
	ran := 0
	source, err := filepath.Abs("../..")
	require.NoError(t, err)
	written := regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?)```").ReplaceAllStringFunc(string(page), func(block string) string {
		m := regexp.MustCompile("(?s)^\n```([a-z]+)\n(.*)```$").FindStringSubmatch(block)
		if file := regexp.MustCompile(`^# (\S+)\n`).FindStringSubmatch(m[2]); file != nil {
			path := filepath.Join(dir, file[1])
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(m[2]), 0o644))
			return block
		}
		require.Equal(t, "console", m[1])
		out := "\n```console\n"
		for _, session := range strings.Split("\n"+m[2], "\n$ ")[1:] {
			line, want, _ := strings.Cut(session, "\n")
			cmd := exec.Command("sh", "-c", "{ "+line+"; } 2>&1 || echo \"[exit $?]\"")
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + programs.Dir(t) + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "NO_COLOR=1",
				"HOOKC_SOURCE=" + source, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
			got, err := cmd.Output()
			require.NoError(t, err, line)
			if !programs.Native { // the page is of a hookc with native Rego
				want = strings.ReplaceAll(want, "rego(kernel)", "rego(topdown)")
			}
			if !*updateDocs {
				assert.Equal(t, untimedPage(want), untimedPage(string(got)), line)
			}
			out += "$ " + line + "\n" + string(got)
			ran++
		}
		return out + "```"
	})
	assert.Greater(t, ran, 7)
	if *updateDocs && !bytes.Equal(page, []byte(written)) {
		require.NoError(t, os.WriteFile(name, []byte(written), 0o644))
	}
}

func untimedPage(s string) string {
	return strings.TrimSpace(regexp.MustCompile(` *\b[0-9.]+(ns|µs|ms|s)\b`).ReplaceAllString(s, " TIME"))
}

//go:build !topdown

package scripts

import (
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

var (
	docBlock = regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?)```")
	// taken is a time, with the room a longer one would need.
	taken = regexp.MustCompile(` *\b[0-9.]+(ns|µs|ms|s)\b`)
)

// TestRegoExamples: the commands of docs/rego.md print what the page says, but
// for times.
func TestRegoExamples(t *testing.T) {
	page, err := os.ReadFile("../../docs/rego.md")
	require.NoError(t, err)
	dir := t.TempDir()
	files := map[string]string{"yaml": "hooks.yaml", "json": "event.json"}
	ran := 0
	for _, m := range docBlock.FindAllStringSubmatch(string(page), -1) {
		if name := files[m[1]]; name != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(m[2]), 0o644))
			continue
		}
		require.Equal(t, "console", m[1])
		for _, session := range strings.Split("\n"+m[2], "\n$ ")[1:] {
			line, want, _ := strings.Cut(session, "\n")
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + programs.Dir(t) + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "NO_COLOR=1"}
			got, err := cmd.Output()
			require.NoError(t, err, line)
			assert.Equal(t, untimedText(want), untimedText(string(got)), line)
			ran++
		}
	}
	assert.Equal(t, 3, ran)
}

func untimedText(s string) string { return strings.TrimSpace(taken.ReplaceAllString(s, " TIME")) }

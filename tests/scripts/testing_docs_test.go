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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/programs"
)

var updateDocs = flag.Bool("update-docs", false, "write what the commands of the pages print, and README's picture")

// TestPagesWithCommands: the commands of README and of the guides
// print what the page says. A block that begins with the name of a file is that file.
func TestPagesWithCommands(t *testing.T) {
	guides, err := filepath.Glob("../../docs/guide/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, guides)
	for _, name := range append(guides, "../../README.md") {
		if filepath.Base(name) == "fleet.md" {
			continue // it needs hookcd: the tests of fleet/cmd/hookcd play it
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			playPage(t, name)
		})
	}
}

// TestAgentsTable: the guide's table of agents is made of the agents' own values.
func TestAgentsTable(t *testing.T) {
	const name = "../../docs/guide/agents.md"
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	before, table, ok := strings.Cut(string(page), "<!-- agents -->\n")
	require.True(t, ok)
	table, after, ok := strings.Cut(table, "<!-- end -->")
	require.True(t, ok)
	want := "| agent | settings of a project | settings of a user | before its hooks run |\n|---|---|---|---|\n"
	for _, id := range agent.Installable() {
		a, err := agent.Find(id)
		require.NoError(t, err)
		s, err := a.Settings()
		require.NoError(t, err)
		place := func(scope agent.Scope, home string) string {
			for _, f := range s.In(scope) {
				return "`" + home + strings.Replace(f.Path, "*.json", f.Own, 1) + "`"
			}
			return "–"
		}
		trust := s.Trust
		if trust == "" {
			trust = "–"
		}
		want += "| `" + id + "` | " + place(agent.ProjectScope, "") + " | " + place(agent.UserScope, "~/") + " | " + trust + " |\n"
	}
	if *updateDocs {
		require.NoError(t, os.WriteFile(name, []byte(before+"<!-- agents -->\n"+want+"<!-- end -->"+after), 0o644))
		return
	}
	assert.Equal(t, want, table)
}

// TestInstallCommands: what the README tells to install is there.
func TestInstallCommands(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`go install github\.com/hookc/hookc/(\S+)@latest`).FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.FileExists(t, filepath.Join("..", "..", m[1], "main.go"))
	}
}

// TestPagesWithGo: each block of Go in README and in the guides is part of an example
// of package hookc, which its tests run.
func TestPagesWithGo(t *testing.T) {
	examples := ""
	files, err := filepath.Glob("../../example*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		examples += unindented(string(text))
	}
	guides, err := filepath.Glob("../../docs/guide/*.md")
	require.NoError(t, err)
	blocks := 0
	for _, name := range append(guides, "../../README.md") {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("(?s)\n```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
			assert.Contains(t, examples, unindented(m[1]), name)
			blocks++
		}
	}
	assert.Greater(t, blocks, 3)
}

func unindented(s string) string { return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(s, "") }

// shown are the blocks that other tests hold: Go is that of examples, and what the
// README has in sh is run by CI or looked at by TestInstallCommands.
func shown(name, language string) bool {
	return language == "go" || language == "sh" && filepath.Base(name) == "README.md"
}

// rewrite writes a file of a page. For a second after one was written again it may be half
// written, and the policy that it held before decides.
func rewrite(t *testing.T, path, text string) {
	_, err := os.Stat(path)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	if err == nil {
		time.Sleep(1100 * time.Millisecond)
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
			rewrite(t, path, m[2])
			return block
		}
		if shown(name, m[1]) {
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
	if picture, err := os.ReadFile(filepath.Join(dir, "picture.svg")); err == nil {
		keepPicture(t, "../../docs/picture.svg", picture)
	}
	assert.Greater(t, ran, 4)
	if *updateDocs && !bytes.Equal(page, []byte(written)) {
		require.NoError(t, os.WriteFile(name, []byte(written), 0o644))
	}
}

// keepPicture: the picture that the README shows is the one that its command draws.
func keepPicture(t *testing.T, name string, want []byte) {
	if *updateDocs {
		require.NoError(t, os.WriteFile(name, want, 0o644))
	}
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	if !programs.Native { // the picture has the times that native Rego is estimated to take
		want, got = []byte(untimedPage(string(want))), []byte(untimedPage(string(got)))
	}
	assert.Equal(t, string(want), string(got), "%s is not what README's command draws", name)
}

func untimedPage(s string) string {
	return strings.TrimSpace(regexp.MustCompile(` *\b[0-9.]+(ns|µs|ms|s)\b`).ReplaceAllString(s, " TIME"))
}

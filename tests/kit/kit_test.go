// Package kit_test runs what teams take from this repository (the script of
// reviews, the GitHub Action, the GitLab template, the hooks of pre-commit) as the
// programs run it that read those files: on repositories of real git, with the real
// hookc.
package kit_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"

	"github.com/hookc/hookc/tests/depth"
)

const (
	strict = `version: 1
pre_tool_execution:
  - {name: deploys, deny: 'command contains "deploy"', reason: no deploys here}
`
	loose = `version: 1
pre_tool_execution:
  - {name: deploys, deny: 'command contains "deploy prod"', reason: no deploys here}
`
	cases = `cases:
  - name: a deploy is denied
    event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: deploy prod}}
    expect: {action: block, by: deploys}
  - name: a list is not
    event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: ls}}
    expect: {action: proceed}
`
)

// source is this repository.
func source(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	return dir
}

// environ is that of a machine that has hookc, and more.
func environ(t *testing.T, more ...string) []string {
	t.Helper()
	return append(os.Environ(), append([]string{"PATH=" + filepath.Dir(programs.Hookc(t)) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GITHUB_ACTIONS="}, more...)...)
}

// run runs a program in a folder; code is how it ended.
func run(t *testing.T, dir string, env []string, name string, args ...string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, env
	// The folder of a program is on the PATH of env, which may be another one.
	if !strings.ContainsRune(name, filepath.Separator) {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(programs.Hookc(t)), name)); err == nil {
			cmd.Path, cmd.Err = path, nil
		}
	}
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		require.NoError(t, err, "%s %q", name, args)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// must runs a program that has to succeed.
func must(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	out, code := run(t, dir, env, name, args...)
	require.Zero(t, code, "%s %q: %s", name, args, out)
	return out
}

// put writes files; an empty text removes one.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if text == "" {
			require.NoError(t, os.Remove(path))
			_ = os.Remove(filepath.Dir(path)) // as git does, where it is empty now
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	return string(text)
}

// pulled is a clone with a pull request: branch main has the first files, and
// branch change, which is checked out, changes them.
func pulled(t *testing.T, before, change map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, dir, environ(t), "git", "init", "--quiet", "--initial-branch=main", ".")
	put(t, dir, before)
	commit(t, dir)
	must(t, dir, environ(t), "git", "checkout", "--quiet", "-b", "change")
	put(t, dir, change)
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	must(t, dir, environ(t), "git", "add", "--all")
	must(t, dir, environ(t), "git", "commit", "--quiet", "--allow-empty", "--message", "a change")
}

// policy is a policy with its cases, in the folder of a project.
func policy(text string) map[string]string {
	return map[string]string{".hookc/hooks.yaml": text, ".hookc/hooks_test.yaml": cases}
}

func TestReview(t *testing.T) {
	const passed, loosened = "2 passed, 0 failed", "loosened: block → proceed"
	for name, tt := range map[string]struct {
		before, change map[string]string
		args, env      []string
		code           int
		comment        []string
	}{
		"loosens":         {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, []string{"main"}, nil, 1, []string{passed, loosened, `"command":"deploy`, "deploys", "to be looked at"}},
		"tightens":        {policy(loose), map[string]string{".hookc/hooks.yaml": strict}, []string{"main"}, nil, 0, []string{passed, "tightened: proceed → block", "coverage 100", "nothing is wrong"}},
		"says the same":   {policy(strict), map[string]string{"README": "a"}, []string{"main"}, nil, 0, []string{"one program", "nothing is wrong"}},
		"removes":         {policy(strict), map[string]string{".hookc/hooks.yaml": "", ".hookc/hooks_test.yaml": ""}, []string{"main"}, nil, 1, []string{"**loosened**: the change removes .hookc"}},
		"removes a part":  {map[string]string{"a/hooks.yaml": strict, "b/hooks.yaml": strings.ReplaceAll(loose, "deploys,", "more,"), "b/hooks_test.yaml": cases}, map[string]string{"b/hooks.yaml": "", "b/hooks_test.yaml": "", "a/hooks_test.yaml": cases}, []string{"main", "a", "b"}, nil, 1, []string{"**loosened**: the change removes b."}},
		"is new":          {map[string]string{"README": "a"}, policy(strict), []string{"main"}, nil, 0, []string{".hookc is new", "nothing is wrong"}},
		"has errors":      {policy(strict), map[string]string{".hookc/hooks.yaml": strict + "  - {name: b, use: unheard-of}\n"}, []string{"main"}, nil, 1, []string{"error[HK", "not compared"}},
		"had errors":      {policy(strict + "  - {name: b, use: unheard-of}\n"), map[string]string{".hookc/hooks.yaml": strict}, []string{"main"}, nil, 3, []string{"could not be compared with main", "unheard-of"}},
		"fails a test":    {policy(strict), map[string]string{".hookc/hooks_test.yaml": strings.ReplaceAll(cases, "command: ls", "command: deploy")}, []string{"main"}, nil, 1, []string{"FAIL a list is not", "1 passed, 1 failed"}},
		"has no test":     {policy(strict), map[string]string{".hookc/hooks_test.yaml": ""}, []string{"main"}, nil, 1, []string{"no tests"}},
		"covers less":     {policy(strict), map[string]string{".hookc/hooks_test.yaml": strings.SplitAfter(cases, "by: deploys}\n")[0]}, []string{"main"}, []string{"HOOKC_COVERAGE_MIN=80"}, 1, []string{"less than 80%"}},
		"has no base":     {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, []string{"absent"}, nil, 3, []string{"absent cannot be checked out"}},
		"is an option":    {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, []string{"--help"}, nil, 3, []string{"--help cannot be checked out"}},
		"has none":        {map[string]string{"README": "a"}, nil, []string{"main"}, nil, 3, []string{".hookc is neither"}},
		"has none at all": {map[string]string{"README": "a"}, nil, []string{"-"}, nil, 3, []string{"no such file"}},
		"compares not":    {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, []string{"-"}, nil, 0, []string{passed}},
		"of its own file": {map[string]string{"p/hooks.yaml": strict, "p/hooks_test.yaml": cases}, map[string]string{"p/hooks.yaml": loose}, []string{"main", "p/hooks.yaml"}, nil, 1, []string{loosened}},
		"is no markup":    {policy(strict), map[string]string{".hookc/hooks.yaml": strings.ReplaceAll(loose, "no deploys here", `"x\n# heading\n::error::x"`)}, []string{"main"}, nil, 1, []string{loosened}},
	} {
		if !depth.Full() && !slices.Contains([]string{"loosens", "tightens", "removes a part", "had errors"}, name) {
			continue // .ci/run tries all
		}
		t.Run(name, func(t *testing.T) {
			dir := pulled(t, tt.before, tt.change)
			out, code := run(t, dir, environ(t, tt.env...), filepath.Join(source(t), ".ci", "review"), tt.args...)
			require.Equal(t, tt.code, code, out)
			comment := read(t, dir, "hookc-review", "comment.md")
			for _, part := range tt.comment {
				assert.Contains(t, comment, part)
			}
			assert.NotContains(t, comment, "\n# heading")
			assert.NotContains(t, out, "\n::error")
			for _, file := range []string{"hookc.sarif", "junit.xml", "codequality.json"} {
				if code != 3 && name != "removes" {
					assert.NotEmpty(t, read(t, dir, "hookc-review", file), file)
				}
			}
			// The clone is as it was.
			assert.Empty(t, must(t, dir, environ(t), "git", "status", "--short"))
			assert.Len(t, strings.Split(strings.TrimSpace(must(t, dir, environ(t), "git", "worktree", "list")), "\n"), 1)
		})
	}
}

func TestReviewIsCalledWrongly(t *testing.T) {
	for _, args := range [][]string{{}, {"main", "/abs"}, {"main", ""}, {"main", `C:\p`}} {
		out, code := run(t, t.TempDir(), environ(t), filepath.Join(source(t), ".ci", "review"), args...)
		assert.Equal(t, 2, code, "%q", args)
		assert.Contains(t, out, "usage: review BASE [POLICY…]")
	}
	out, code := run(t, t.TempDir(), environ(t, "HOOKC=absent-hookc"), filepath.Join(source(t), ".ci", "review"), "main")
	assert.Equal(t, 3, code)
	assert.Contains(t, out, "absent-hookc is not there")
}

// TestReviewComparesWithWhereTheChangeBegan: what main did since is not the change's.
func TestReviewComparesWithWhereTheChangeBegan(t *testing.T) {
	dir := pulled(t, policy(loose), map[string]string{"README": "a"})
	must(t, dir, environ(t), "git", "checkout", "--quiet", "main")
	put(t, dir, policy(strict))
	commit(t, dir)
	must(t, dir, environ(t), "git", "checkout", "--quiet", "change")
	out, code := run(t, dir, environ(t), filepath.Join(source(t), ".ci", "review"), "main")
	assert.Zero(t, code, out)
}

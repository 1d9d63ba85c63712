package kit_test

import (
	"archive/zip"
	"encoding/json"
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
)

// readers is the folder that .ci/kit has filled; without it the test is skipped.
func readers(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("HOOKC_TEST_KIT")
	if dir == "" {
		t.Skip("HOOKC_TEST_KIT is not set: it names the folder that .ci/kit fills (see .ci/run)")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	return dir
}

// result is one result, as a program from npm reads it.
type result struct {
	Name               string
	Failed, Suppressed bool
}

// TestReadersFromNPM: what hookc reports is what the programs read that it reports
// it to.
func TestReadersFromNPM(t *testing.T) {
	kit := readers(t)
	const odd = `  - {name: b, when: 'command contains "]]> <x> & \" # SKIP ok"', deny: true, reason: "</failure> # TODO"}` + "\n"
	broken := strict + "  - {name: c, use: unheard-of}\n  - {name: d, denny: 'true'}\n"
	failing := strings.ReplaceAll(strings.ReplaceAll(cases, "a list is not", `"a <list> & # SKIP \"is\" not"`), "command: ls", "command: deploy")
	for name, tt := range map[string]struct {
		files map[string]string
		args  []string
		// failed is how many the command says failed, or more where it is -1.
		failed int
	}{
		"check, nothing":  {policy(strict), []string{"check", ".hookc"}, 0},
		"check, errors":   {policy(broken), []string{"check", ".hookc"}, -1},
		"lint, accepted":  {policy("version: 1\npre_tool_execution:\n  # hookc:ignore HK114 <it> is & \"plain\"\n  - {name: deploys, deny: 'command contains \"deploy\"'}\n"), []string{"lint", ".hookc"}, 0},
		"lint":            {policy(strict + odd), []string{"lint", ".hookc"}, -2},
		"test":            {policy(strict), []string{"test", ".hookc", "--coverage"}, 0},
		"test, failed":    {map[string]string{".hookc/hooks.yaml": strict, ".hookc/hooks_test.yaml": failing}, []string{"test", ".hookc"}, 1},
		"test, none":      {map[string]string{".hookc/hooks.yaml": strict}, []string{"test", ".hookc"}, 1},
		"diff, loosened":  {map[string]string{"a.yaml": strict, "b.yaml": loose}, []string{"diff", "a.yaml", "b.yaml", "--fail-on-loosened"}, 1},
		"diff, tightened": {map[string]string{"a.yaml": strict, "b.yaml": loose}, []string{"diff", "b.yaml", "a.yaml", "--fail-on-loosened"}, 0},
	} {
		for _, format := range []string{"sarif", "junit", "tap"} {
			t.Run(name+", "+format, func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir, tt.files)
				cmd := exec.CommandContext(t.Context(), programs.Hookc(t), append(tt.args, "--format", format)...)
				cmd.Dir, cmd.Env = dir, environ(t)
				report, failure := cmd.Output()
				var exit *exec.ExitError
				if errors.As(failure, &exit) {
					t.Logf("%s", exit.Stderr)
				}
				require.NotEmpty(t, report)
				put(t, dir, map[string]string{"report": string(report)})
				var read []result
				text := must(t, dir, environ(t), "node", filepath.Join(source(t), "tests", "kit", "testdata", "read.mjs"), format, "report", kit)
				require.NoError(t, json.Unmarshal([]byte(text), &read), text)
				failed := 0
				for _, r := range read {
					if r.Failed && !r.Suppressed {
						failed++
					}
				}
				switch tt.failed {
				case -1:
					assert.Positive(t, failed, "%s", report)
					assert.Equal(t, 1, cmd.ProcessState.ExitCode())
				case -2: // warnings and hints: whatever there is, it is read
				default:
					assert.Equal(t, tt.failed, failed, "%s", report)
					assert.Equal(t, min(tt.failed, 1), cmd.ProcessState.ExitCode())
				}
				if name == "test, failed" && format != "sarif" {
					assert.True(t, slices.ContainsFunc(read, func(r result) bool { return r.Failed && r.Name == `a <list> & # SKIP "is" not` }), text)
				}
			})
		}
	}
}

// copied is this repository as it stands, as a repository of one commit.
func copied(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range tracked(t) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, programs.Write(filepath.Join(dir, name), []byte(read(t, source(t), name))))
	}
	must(t, dir, environ(t), "git", "init", "--quiet", ".")
	commit(t, dir)
	return dir
}

// tracked are the files of this repository.
func tracked(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range strings.Split(must(t, source(t), environ(t), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
		if info, err := os.Lstat(filepath.Join(source(t), name)); err == nil && info.Mode().IsRegular() {
			out = append(out, name)
		}
	}
	return out
}

// TestRealPreCommit has pre-commit install the hooks from this repository and run
// them on a commit.
func TestRealPreCommit(t *testing.T) {
	readers(t)
	kit := copied(t)
	at := strings.TrimSpace(must(t, kit, environ(t), "git", "rev-parse", "HEAD"))
	config := "repos:\n  - repo: " + kit + "\n    rev: " + at + "\n    hooks: [{id: hookc-fmt}, {id: hookc-check}, {id: hookc-test}]\n"
	dir := pulled(t, policy(strict), map[string]string{".pre-commit-config.yaml": config})
	modules := strings.TrimSpace(must(t, dir, environ(t), "go", "env", "GOMODCACHE"))
	env := environ(t, "PRE_COMMIT_HOME="+t.TempDir(), "GOMODCACHE="+modules, "GOFLAGS=-buildvcs=false -trimpath")
	must(t, dir, env, "pre-commit", "install")
	try := func(files map[string]string) (string, int) {
		put(t, dir, files)
		must(t, dir, env, "git", "add", "--all")
		return run(t, dir, env, "git", "commit", "--message", "a change")
	}
	out, code := try(map[string]string{".hookc/hooks.yaml": loose})
	require.Zero(t, code, out)
	assert.Equal(t, 3, strings.Count(out, "Passed"), out)
	out, code = try(map[string]string{".hookc/hooks_test.yaml": strings.ReplaceAll(cases, "\n  ", "\n    ")})
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "files were modified by this hook")
	assert.Equal(t, cases, read(t, dir, ".hookc", "hooks_test.yaml"))
	out, code = try(map[string]string{".hookc/hooks_test.yaml": strings.ReplaceAll(cases, "command: ls", "command: deploy prod")})
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "FAIL a list is not")
	out, code = try(map[string]string{".hookc/hooks_test.yaml": cases, ".hookc/hooks.yaml": strict + "  - {name: b, use: unheard-of}\n"})
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "HK100")
}

// TestGitLabFromNothing runs the whole job on a machine without hookc: a module
// proxy has this repository as a released version.
func TestGitLabFromNothing(t *testing.T) {
	readers(t)
	const version = "v0.0.1-kit"
	proxy := t.TempDir()
	folder := filepath.Join(proxy, "github.com", "hookc", "hookc", "@v")
	put(t, folder, map[string]string{"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": read(t, source(t), "go.mod")})
	file, err := os.Create(filepath.Join(folder, version+".zip"))
	require.NoError(t, err)
	defer file.Close()
	packed := zip.NewWriter(file)
	names := tracked(t)
	for _, name := range names {
		if slices.ContainsFunc(names, func(mod string) bool {
			folder, is := strings.CutSuffix(mod, "/go.mod")
			return is && strings.HasPrefix(name, folder+"/")
		}) {
			continue // The go command leaves modules of their own out of a module's zip.
		}
		w, err := packed.Create("github.com/hookc/hookc@" + version + "/" + name)
		require.NoError(t, err)
		_, err = w.Write([]byte(read(t, source(t), name)))
		require.NoError(t, err)
	}
	require.NoError(t, packed.Close())
	j := template(t)
	dir := pulled(t, policy(strict), map[string]string{".hookc/hooks.yaml": loose})
	base := strings.TrimSpace(must(t, dir, environ(t), "git", "rev-parse", "main"))
	cache := strings.TrimSpace(must(t, dir, environ(t), "go", "env", "GOMODCACHE"))
	out, code := j.play(t, dir, slices.Concat(j.Before, []string{"command -v hookc"}, j.Script), "GOPATH="+t.TempDir(), "GOMODCACHE=", "HOOKC_VERSION="+version, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+base,
		"PATH="+os.Getenv("PATH"), "GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off", "GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache", "download"))
	require.Equal(t, 1, code, out)
	assert.Contains(t, out, "/bin/hookc\n")
	assert.Contains(t, out, "loosened")
}

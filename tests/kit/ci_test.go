package kit_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/hookc/hookc/tests/programs"

	"github.com/hookc/hookc/tests/depth"
)

// action is a composite action, as GitHub's runner reads it.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, Uses, Shell, Run string
			Dir                        string `yaml:"working-directory"`
			Env                        map[string]string
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// play runs the steps of the action that are scripts, as the runner does on a
// machine of Linux: with bash, and with the files by which they tell it things.
// Known has the values of the names that expressions use, temp is the runner's.
func (a *action) play(t *testing.T, dir, temp string, known map[string]string) (outputs map[string]string, summary string, code int) {
	t.Helper()
	known = maps.Clone(known)
	for name, in := range a.Inputs {
		if _, set := known["inputs."+name]; !set {
			known["inputs."+name] = in.Default
		}
	}
	fill := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			name := expression.FindStringSubmatch(e)[1]
			value, found := known[name]
			require.True(t, found, "the runner does not know %s", name)
			return value
		})
	}
	var path []string
	for _, step := range a.Runs.Steps {
		if step.Uses != "" {
			assert.Equal(t, "actions/setup-go@v5", step.Uses, "a step that this test does not run")
			continue
		}
		require.Equal(t, "bash", step.Shell)
		assert.NotContains(t, step.Run, "${{", "what a pull request says must not become a part of a script")
		put(t, temp, map[string]string{"script": step.Run, "output": "\n", "summary": "\n", "path": "\n"})
		env := environ(t, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+filepath.Join(temp, "output"),
			"GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"), "GITHUB_PATH="+filepath.Join(temp, "path"), "GITHUB_ACTIONS=true")
		for i, pair := range env {
			if rest, found := strings.CutPrefix(pair, "PATH="); found && len(path) > 0 {
				env[i] = "PATH=" + strings.Join(append(path, rest), ":")
			}
		}
		for name, value := range step.Env {
			env = append(env, name+"="+fill(value))
		}
		out, ended := run(t, filepath.Join(dir, fill(step.Dir)), env, "bash", "--noprofile", "--norc", "-eo", "pipefail", filepath.Join(temp, "script"))
		t.Logf("%s: %s", step.Name, out)
		summary += strings.TrimSpace(read(t, temp, "summary"))
		path = append(strings.Fields(read(t, temp, "path")), path...)
		for _, line := range strings.Split(read(t, temp, "output"), "\n") {
			if name, value, found := strings.Cut(line, "="); found {
				known["steps."+step.ID+".outputs."+name] = value
			}
		}
		if code = ended; code != 0 {
			break
		}
	}
	outputs = map[string]string{}
	for name, out := range a.Outputs {
		outputs[name] = fill(out.Value)
	}
	return outputs, summary, code
}

// checkout is what a checkout of one commit leaves: a clone of the branch change
// that knows no other.
func checkout(t *testing.T, before, change map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	must(t, t.TempDir(), environ(t), "git", "clone", "--quiet", "--depth=1", "--single-branch", "--branch=change", "file://"+pulled(t, before, change), dir)
	return dir
}

func TestAction(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows the steps run in the bash of Git, whose paths are not the ones that this test compares")
	}
	var a action
	require.NoError(t, yaml.Unmarshal([]byte(read(t, source(t), "action.yml")), &a))
	require.Equal(t, "composite", a.Runs.Using)
	temp := t.TempDir() // one for all, so that hookc is linked once
	sub := map[string]string{"a/p/hooks.yaml": strict, "a/p/hooks_test.yaml": cases}
	for name, tt := range map[string]struct {
		before, change map[string]string
		known          map[string]string
		code           int
		summary        string
	}{
		"loosens":          {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, map[string]string{"github.base_ref": "main"}, 1, "loosened: block → proceed"},
		"tightens":         {policy(loose), map[string]string{".hookc/hooks.yaml": strict}, map[string]string{"github.base_ref": "main"}, 0, "tightened: proceed → block"},
		"below":            {sub, map[string]string{"a/p/hooks.yaml": loose}, map[string]string{"github.base_ref": "main", "inputs.working-directory": "a", "inputs.policy": "p\n"}, 1, "loosened: block → proceed"},
		"covers":           {policy(strict), map[string]string{".hookc/hooks_test.yaml": strings.SplitAfter(cases, "by: deploys}\n")[0]}, map[string]string{"github.base_ref": "main", "inputs.coverage-min": "80"}, 1, "less than 80%"},
		"is a first push":  {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, map[string]string{"github.event.before": strings.Repeat("0", 40)}, 0, "2 passed"},
		"has a named base": {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, map[string]string{"inputs.base": "HEAD"}, 0, "one program"},
		"is no command":    {policy(strict), map[string]string{".hookc/hooks.yaml": loose}, map[string]string{"inputs.base": "$(touch made)`touch made`;touch made"}, 3, "cannot be checked out"},
	} {
		if !depth.Full() && !slices.Contains([]string{"loosens", "is no command"}, name) {
			continue // .ci/run tries all
		}
		t.Run(name, func(t *testing.T) {
			dir := checkout(t, tt.before, tt.change)
			known := map[string]string{"github.action_path": source(t), "github.base_ref": "", "github.event.before": ""}
			maps.Copy(known, tt.known)
			outputs, summary, code := a.play(t, dir, temp, known)
			require.Equal(t, tt.code, code, summary)
			assert.Contains(t, summary, tt.summary)
			assert.Equal(t, summary, strings.TrimSpace(read(t, outputs["comment"])))
			assert.Equal(t, string(rune('0'+code)), outputs["code"])
			assert.Contains(t, read(t, outputs["sarif"]), `"2.1.0"`)
			assert.Contains(t, read(t, outputs["junit"]), "<testsuites")
			assert.NoFileExists(t, filepath.Join(dir, "made"))
		})
	}
}

// job is a job of GitLab's, with the parts that this template uses.
type job struct {
	Variables map[string]string
	Before    []string `yaml:"before_script"`
	Script    []string
	Artifacts struct {
		Paths   []string
		Reports map[string]string
	}
}

func template(t *testing.T) job {
	t.Helper()
	var jobs map[string]job
	require.NoError(t, yaml.Unmarshal([]byte(read(t, source(t), ".ci", "gitlab.yml")), &jobs))
	require.Len(t, jobs, 1)
	return jobs["hookc"]
}

// play runs lines as GitLab's runner does: in one shell that ends at the first that
// fails.
func (j job) play(t *testing.T, dir string, lines []string, vars ...string) (string, int) {
	t.Helper()
	env := environ(t, "CI=true", "GITLAB_CI=true")
	for name, value := range j.Variables {
		env = append(env, name+"="+value)
	}
	return run(t, dir, append(env, vars...), "sh", "-c", "set -e\n"+strings.Join(lines, "\n"))
}

func TestGitLab(t *testing.T) {
	j := template(t)
	for name, tt := range map[string]struct {
		before, after string
		vars          []string
		code          int
		text          string
	}{
		"loosens":  {strict, loose, nil, 1, "loosened"},
		"tightens": {loose, strict, nil, 0, "tightened"},
		"a branch": {strict, loose, []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA="}, 0, "2 passed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := pulled(t, policy(tt.before), map[string]string{".hookc/hooks.yaml": tt.after})
			base := strings.TrimSpace(must(t, dir, environ(t), "git", "rev-parse", "main"))
			out, code := j.play(t, dir, j.Script, append([]string{"HOOKC_SOURCE=" + source(t), "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base}, tt.vars...)...)
			require.Equal(t, tt.code, code, out)
			assert.Contains(t, out, tt.text)
			for _, path := range append(j.Artifacts.Paths, j.Artifacts.Reports["junit"], j.Artifacts.Reports["codequality"]) {
				assert.NotEmpty(t, read(t, dir, path), path)
			}
		})
	}
}

// preCommitHook is a hook as pre-commit reads it.
type preCommitHook struct {
	ID, Name, Entry, Language, Files string
	Pass                             *bool `yaml:"pass_filenames"`
}

// TestPreCommitHooks chooses the files and runs the entries as pre-commit does.
// TestRealPreCommit does so with the program.
func TestPreCommitHooks(t *testing.T) {
	var hooks []preCommitHook
	require.NoError(t, yaml.Unmarshal([]byte(read(t, source(t), ".pre-commit-hooks.yaml")), &hooks))
	untidy := strings.ReplaceAll(cases, "\n  ", "\n    ")
	ids := map[string]int{}
	for _, h := range hooks {
		ids[h.ID]++
		require.Equal(t, "golang", h.Language)
		files := regexp.MustCompile(h.Files)
		try := func(changes map[string]string) (ran bool, code int, dir string) {
			dir = pulled(t, policy(strict), changes)
			entry := strings.Fields(h.Entry)
			require.Equal(t, "hookc", entry[0])
			var changed []string
			for name := range changes {
				if files.MatchString(name) {
					changed = append(changed, name)
				}
			}
			if len(changed) == 0 {
				return false, 0, dir
			}
			if h.Pass == nil || *h.Pass {
				entry = append(entry, changed...)
			}
			_, code = run(t, dir, environ(t), programs.Hookc(t), entry[1:]...)
			return true, code, dir
		}
		ran, _, _ := try(map[string]string{"main.go": "package a\n", "docs/a.yaml": "a: b\n"})
		assert.False(t, ran, "%s runs on foreign files", h.ID)
		ran, code, _ := try(map[string]string{".hookc/hooks.yaml": loose})
		assert.True(t, ran && code == 0, h.ID)
		switch h.ID {
		case "hookc-check":
			_, code, _ = try(map[string]string{".hookc/hooks.yaml": strict + "  - {name: b, use: unheard-of}\n"})
			assert.Equal(t, 1, code, h.ID)
		case "hookc-test":
			_, code, _ = try(map[string]string{".hookc/hooks_test.yaml": strings.ReplaceAll(cases, "command: ls", "command: deploy")})
			assert.Equal(t, 1, code, h.ID)
		case "hookc-fmt":
			_, code, dir := try(map[string]string{".hookc/hooks_test.yaml": untidy})
			assert.Zero(t, code, h.ID)
			assert.Equal(t, cases, read(t, dir, ".hookc", "hooks_test.yaml"), "what it changes pre-commit sees")
		}
	}
	assert.Equal(t, map[string]int{"hookc-check": 1, "hookc-test": 1, "hookc-fmt": 1}, ids)
}

package kit_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestTeam takes a repository that `hookc init --team` made through what a team does:
// the real pre-commit, then a pull request that loosens the policy, reviewed by the
// action with the inputs that the workflow gives it, whose reports the programs from
// npm read.
func TestTeam(t *testing.T) {
	kit := readers(t)
	hookc := copied(t)
	at := strings.TrimSpace(must(t, hookc, environ(t), "git", "rev-parse", "HEAD"))
	dir := t.TempDir()
	env := environ(t, "PRE_COMMIT_HOME="+t.TempDir(), "GOFLAGS=-buildvcs=false -trimpath")
	env = append(env, "GOMODCACHE="+strings.TrimSpace(must(t, dir, env, "go", "env", "GOMODCACHE")))
	must(t, dir, env, "git", "init", "--quiet", "--initial-branch=main", ".")
	out := must(t, dir, env, "hookc", "init", "--team")
	assert.Equal(t, 5, strings.Count(out, "wrote "), out)

	// pre-commit, with this hookc in the place of the released one.
	config := read(t, dir, ".pre-commit-config.yaml")
	config = strings.Replace(strings.Replace(config, "https://github.com/hookc/hookc", hookc, 1), "rev: main", "rev: "+at, 1)
	put(t, dir, map[string]string{".pre-commit-config.yaml": config})
	must(t, dir, env, "pre-commit", "install")
	must(t, dir, env, "git", "add", "--all")
	assert.Equal(t, 3, strings.Count(must(t, dir, env, "git", "commit", "--message", "a policy"), "Passed"))
	must(t, dir, env, "git", "checkout", "--quiet", "-b", "change")
	loosened := strings.Replace(read(t, dir, ".hookc", "hooks.yaml"), "    outside: ask ", "    # outside: ask ", 1)
	put(t, dir, map[string]string{".hookc/hooks.yaml": loosened})
	out, code := run(t, dir, env, "git", "commit", "--all", "--message", "write anywhere")
	require.NotZero(t, code, "the test of the rule keeps the commit from being made")
	assert.Contains(t, out, "FAIL outside")
	var kept []string
	for line := range strings.Lines(read(t, dir, ".hookc", "hooks_test.yaml")) {
		if !strings.Contains(line, "name: outside") {
			kept = append(kept, line)
		}
	}
	put(t, dir, map[string]string{".hookc/hooks_test.yaml": strings.Join(kept, "")})
	must(t, dir, env, "git", "commit", "--all", "--message", "write anywhere, without its test")

	// The pull request, as the workflow reviews it.
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, dir, ".github", "workflows", "hookc.yml")), &workflow))
	step := workflow.Jobs["review"].Steps[1]
	require.Equal(t, "hookc/hookc@main", step.Uses)
	known := map[string]string{"github.action_path": source(t), "github.base_ref": "main", "github.event.before": ""}
	var a action
	require.NoError(t, yaml.Unmarshal([]byte(read(t, source(t), "action.yml")), &a))
	for name, value := range step.With {
		require.Contains(t, a.Inputs, name)
		known["inputs."+name] = value
	}
	clone := filepath.Join(t.TempDir(), "clone")
	must(t, dir, env, "git", "clone", "--quiet", "--depth=1", "--single-branch", "--branch=change", "file://"+dir, clone)
	outputs, summary, code := a.play(t, clone, t.TempDir(), known)
	require.Equal(t, 1, code, summary)
	assert.Contains(t, summary, "loosened: ask → proceed")
	assert.Contains(t, summary, "12 passed, 0 failed")
	assert.Contains(t, summary, "coverage 100.0%")
	for format, path := range map[string]string{"sarif": outputs["sarif"], "junit": outputs["junit"]} {
		var results []result
		text := must(t, dir, env, "node", filepath.Join(source(t), "tests", "kit", "testdata", "read.mjs"), format, path, kit)
		require.NoError(t, json.Unmarshal([]byte(text), &results), text)
		assert.Len(t, results, map[string]int{"sarif": 0, "junit": 12}[format], text)
	}
}

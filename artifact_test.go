package hookc_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/artifact"
)

// written compiles a policy into an artifact.
func written(t *testing.T, options ...hookc.Option) string {
	t.Helper()
	x, found, err := hookc.NewArtifact(options...)
	require.NoError(t, err)
	require.NotNil(t, x, "%s", found.Render())
	path := filepath.Join(t.TempDir(), "policy.hookc")
	require.NoError(t, x.WriteFile(path, nil))
	return path
}

// model is what explain draws of a program, without how long compiling took.
func model(t *testing.T, p *dag.Program) string {
	t.Helper()
	m := render.Explain(p, render.ExplainOptions{})
	m.Compiled = 0
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return string(text)
}

func TestArtifactExplains(t *testing.T) {
	for _, file := range []string{"hooks.example.yaml"} {
		from := hookc.Files(file)
		want, found := hookc.Compile(from)
		require.NotNil(t, want, "%s", found.Render())
		path := written(t, from)
		got, more, err := hookc.Restore(hookc.Artifact(path))
		require.NoError(t, err)
		assert.Equal(t, want.Hash, got.Hash)
		assert.Equal(t, found.Render(), more.Render())
		assert.Equal(t, model(t, want), model(t, got))
	}
}

func TestArtifactRefused(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(source, []byte("pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm -rf\"', reason: \"no\"}\n"), 0o644))
	path := written(t, hookc.Files(source))
	open := func(more ...hookc.Option) error {
		eng, err := hookc.Open(t.Context(), append(more, hookc.Artifact(path))...)
		if err != nil {
			return err
		}
		defer eng.Close()
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "rm -rf /"}))
		require.NoError(t, err)
		require.Equal(t, policy.Deny, d.Verdict)
		require.Equal(t, source+":2:19", d.At.String())
		return nil
	}
	require.NoError(t, open())
	require.NoError(t, os.WriteFile(source, []byte("pre_tool_execution: []\n"), 0o644))
	var refused *artifact.Error
	require.ErrorAs(t, open(), &refused)
	assert.Equal(t, &artifact.Error{Kind: artifact.Changed, Path: source, Text: "the compiled policy is stale: " + source + " has changed: compile it again"}, refused)
	require.NoError(t, open(hookc.AllowStale()))
}

// Filters in an agent's own words come back with the agent's own tests, and the
// agent's strategy with its rules; the profile is the artifact's.
func TestArtifactOfProfile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".gemini"), 0o755))
	settings := filepath.Join(dir, ".gemini", "settings.json")
	const text = `{"hooks": {"BeforeTool": [{"matcher": "^(run_shell_command|write_.*)$", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}`
	require.NoError(t, os.WriteFile(settings, []byte(text), 0o644))
	t.Setenv("HOOKC_TRUST", "all")
	t.Setenv("HOME", t.TempDir())
	from := []hookc.Option{hookc.Discover(dir), hookc.Profile("gemini", false)}
	want, found := hookc.Compile(from...)
	require.NotNil(t, want, "%s", found.Render())
	path := written(t, from...)
	got, more, err := hookc.Restore(hookc.Artifact(path))
	require.NoError(t, err)
	assert.Equal(t, found.Render(), more.Render())
	assert.Equal(t, want.Hash, got.Hash)
	assert.Equal(t, model(t, want), model(t, got))
	eng, err := hookc.Open(t.Context(), hookc.Artifact(path))
	require.NoError(t, err)
	defer eng.Close()
	for tool, verdict := range map[string]policy.Verdict{"write_file": policy.Deny, "read_file": policy.None} {
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, policy.NewContext("").Set(policy.FieldToolName, tool).Set(policy.FieldCwd, dir).Set(policy.FieldToolInput, map[string]any{}))
		require.NoError(t, err)
		assert.Equal(t, verdict, d.Verdict, tool)
	}
	_, _, err = hookc.Restore(hookc.Artifact(path), hookc.Profile("claude", false))
	var refused *artifact.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, artifact.OtherEnvironment, refused.Kind)
	require.NoError(t, os.WriteFile(settings, []byte(strings.Replace(text, "write_.*", "read_.*", 1)), 0o644))
	_, _, err = hookc.Restore(hookc.Artifact(path), hookc.AllowStale())
	require.ErrorAs(t, err, &refused, "tests that cannot be made again are not left out")
	assert.Equal(t, artifact.Changed, refused.Kind)
}

package casetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/rego"
)

// files writes files into a new folder.
func files(t *testing.T, contents map[string]string) string {
	dir := t.TempDir()
	for name, text := range contents {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// config tests the hooks.yaml of a folder.
func config(dir string, options ...hookc.Option) Config {
	return Config{Dir: dir, Shown: func(path string) string { return path },
		Options: append(options, hookc.Files(filepath.Join(dir, "hooks.yaml"))),
		Eyes:    func(report func(rego.Difference)) *rego.Eyes { return rego.NewEyes(true, nil, report) }}
}

const somePolicy = `
pre_tool_execution:
  - name: guard
    source: |
      package guard
      deny contains "no deletes" if startswith(input.command, "rm")
      deny contains "no push" if { contains(input.command, "push"); contains(input.command, "main") }
  - {name: e, deny: 'command contains "sudo"', reason: no sudo}
  - {name: script, command: 'echo {}'}
`

// However many cases there are, the policy is compiled once.
func TestThePolicyIsCompiledOnce(t *testing.T) {
	var cases strings.Builder
	cases.WriteString("cases:\n")
	for i := range 300 {
		fmt.Fprintf(&cases, "  - {name: c%d, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: rm %d}}, answers: {script: {decision: deny}}, expect: {by: guard}}\n", i, i)
	}
	dir := files(t, map[string]string{"hooks.yaml": somePolicy, "hooks_test.yaml": cases.String()})
	opened := 0
	r, err := Run(context.Background(), config(dir, host.Compiler[hookc.Option](func(*compiler.Config) { opened++ })))
	require.NoError(t, err)
	assert.True(t, r.OK())
	assert.Equal(t, 300, r.Passed)
	assert.LessOrEqual(t, opened, 2) // once read, to find the tests
}

// A file that changes, one that appears in a folder and one that is half saved are
// seen, and what was watched stays so when a run could read less.
func TestWatch(t *testing.T) {
	dir := files(t, map[string]string{"hooks.yaml": somePolicy,
		"hooks_test.yaml": "cases:\n  - {name: a, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: ls}}, answers: {script: {}}, expect: {action: proceed}}\n"})
	var w Watch
	run := func() *Report {
		r, err := Run(context.Background(), config(dir))
		if err != nil {
			r = nil
		}
		w.Add(r)
		return r
	}
	change := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		require.NoError(t, w.Changed(context.Background()))
	}
	require.True(t, run().OK())
	change("hooks.yaml", "pre_tool_execution:\n  - {name: guard, den")
	require.Nil(t, run())
	change("hooks.yaml", strings.Replace(somePolicy, `"rm"`, `"ls"`, 1))
	require.False(t, run().OK())
	change("more_test.yaml", "cases:\n  - {name: b, event: {event: notify}, expect: {action: proceed}}\n")
	require.Equal(t, 2, len(run().Tests))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, os.Remove(filepath.Join(dir, "more_test.yaml")))
	require.NoError(t, w.Changed(context.Background()))
	assert.ErrorIs(t, w.Changed(ctx), context.Canceled)
}

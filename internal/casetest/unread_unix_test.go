//go:build unix

package casetest

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No file of tests is left out in silence, so that what it would find is not found.
func TestNoFileOfTestsIsLeftOut(t *testing.T) {
	good := "cases:\n  - {name: a, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: ls}}, expect: {action: proceed}}\n"
	for what, put := range map[string]func(path string) error{
		"pipe":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link to none": func(path string) error { return os.Symlink("gone", path) },
		"link":         func(path string) error { return os.Symlink("hooks_test.yaml", path) },
		"device":       func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		for _, name := range []string{"more_test.yaml", "more_test.rego"} {
			dir := files(t, map[string]string{"hooks.yaml": "pre_tool_execution:\n  - {name: e, deny: 'command contains \"sudo\"'}\n", "hooks_test.yaml": good})
			require.NoError(t, put(filepath.Join(dir, name)))
			r, err := Run(context.Background(), config(dir))
			assert.True(t, err != nil || !r.OK(), "%s %s", what, name)
		}
	}
}

// A case whose event names no tool fails, whatever it expects, and the others are told.
func TestAnUnfitCaseFailsAlone(t *testing.T) {
	dir := files(t, map[string]string{"hooks.yaml": "pre_tool_execution:\n  - {name: e, deny: 'command contains \"sudo\"'}\n", "hooks_test.yaml": `cases:
  - {name: unfit, event: {event: pre_tool_execution, tool_nme: Bash, tool_input: {command: sudo ls}}, expect: {action: block}}
  - {name: fit, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: ls}}, expect: {action: proceed}}
`})
	r, err := Run(context.Background(), config(dir))
	require.NoError(t, err)
	assert.Equal(t, 1, r.Passed)
	assert.False(t, r.OK())
}

// Package agents_test puts hookc in front of real agents, installed from
// their registry, against a model on loopback, and compares it with their own
// hook code. It runs only where HOOKC_TEST_AGENTS names the folder that holds
// their node_modules; there, whatever cannot run is a failure.
package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// installEnv names the folder the agents are installed in.
const installEnv = "HOOKC_TEST_AGENTS"

// installed is the path of an installed package's file. Without
// HOOKC_TEST_AGENTS the test is skipped.
func installed(t *testing.T, elements ...string) string {
	t.Helper()
	dir := os.Getenv(installEnv)
	if dir == "" {
		t.Skip(installEnv + " is not set: it names the folder with the agents' node_modules (see CONTRIBUTING.md)")
	}
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	path := filepath.Join(append([]string{dir, "node_modules"}, elements...)...)
	_, err = os.Stat(path)
	require.NoError(t, err, "the agent is not installed")
	return path
}

// node is the JavaScript runtime.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	require.NoError(t, err, "the agents need node")
	return path
}

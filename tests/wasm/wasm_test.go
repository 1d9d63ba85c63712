// Package wasm runs the library where there are no processes: as WebAssembly, in
// node.
package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLibraryAsWebAssembly builds a program that embeds hookc for both targets
// of WebAssembly that Go has, and runs it in node: Rego and expr decide as they
// do everywhere, and a bash hook is found by check and fails by its posture.
// Building everything for another target takes a minute, so it is asked for with
// HOOKC_TEST_WASM, as .ci/run does.
func TestLibraryAsWebAssembly(t *testing.T) {
	if os.Getenv("HOOKC_TEST_WASM") == "" {
		t.Skip("it builds everything for two more targets; HOOKC_TEST_WASM=1 does, as .ci/run")
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	glue := filepath.Join(string(goroot[:len(goroot)-1]), "lib", "wasm")
	for target, runs := range map[string][]string{
		"wasip1": {"--no-warnings", filepath.Join("testdata", "wasi.mjs")},
		"js":     {filepath.Join(glue, "wasm_exec_node.js")},
	} {
		t.Run(target, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "gate.wasm")
			build := exec.Command("go", "build", "-o", program, "./testdata/gate")
			build.Env = append(os.Environ(), "GOOS="+target, "GOARCH=wasm", "CGO_ENABLED=0")
			out, err := build.CombinedOutput()
			require.NoError(t, err, string(out))
			run := exec.Command("node", append(runs, program)...)
			run.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/"}
			out, err = run.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Equal(t, `HK090 script this platform starts no processes: every run of the hook fails, and on_error decides
true  []
false root [no removing of all]
false sudo [no sudo]
false script [script: this platform starts no processes]
`, string(out))
		})
	}
}

package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// hookcBinary and gateBinary are the real commands, built once for all tests of
// the package, beside each other.
var hookcBinary, gateBinary string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hookc-bin-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// Without the commit in it: two stamped copies of one commit are the same
	// hookc to a compiled policy, and a test tells copies apart.
	hookcBinary = filepath.Join(dir, "hookc")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", hookcBinary, module+"/cmd/hookc").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building hookc: %v\n%s", err, out)
		return 1
	}
	gateBinary = filepath.Join(dir, "hookgate")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", gateBinary, module+"/cmd/hookgate").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building hookgate: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

//go:build !unix && !windows

package runner

import (
	"io"
	"os"
	"os/exec"
)

// noProcesses is why no command can be started: the platform, WebAssembly, has
// no processes.
const noProcesses = "this platform starts no processes"

// group is of no process: none is ever started.
type group struct{}

func leadGroup(*exec.Cmd)      {}
func adopt(*exec.Cmd) *group   { return &group{} }
func (*group) terminate()      {}
func (*group) kill()           {}
func (*group) close()          {}
func rest(*os.File, io.Writer) {}

func signalOf(*os.ProcessState) string { return "" }

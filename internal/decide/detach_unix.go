//go:build unix

package decide

import (
	"os/exec"
	"syscall"
)

// detach puts a process into a session of its own, so that neither the
// terminal nor the agent's end takes it along.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

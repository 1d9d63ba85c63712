package decide

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach puts a process into a group of its own without a console, so that
// neither the terminal nor the agent's end takes it along.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

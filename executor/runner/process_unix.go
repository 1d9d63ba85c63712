//go:build unix

package runner

import (
	"os"
	"os/exec"
	"syscall"
)

// group is a process group, named by its leader's id.
type group struct{ id int }

// leadGroup makes the process to be started the leader of a new group, so
// that a signal reaches everything it starts.
func leadGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func adopt(cmd *exec.Cmd) *group { return &group{id: cmd.Process.Pid} }

// terminate asks every member to end. A group that is gone is no error.
func (g *group) terminate() { _ = syscall.Kill(-g.id, syscall.SIGTERM) }

// kill ends every member that is left.
func (g *group) kill() { _ = syscall.Kill(-g.id, syscall.SIGKILL) }

func (g *group) close() {}

// signalOf names the signal that ended a process, "" for none.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

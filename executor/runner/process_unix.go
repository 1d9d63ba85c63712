//go:build unix

package runner

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// noProcesses is "": commands can be started.
const noProcesses = ""

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

// signalOf names the signal that ended a process, "" if there is none.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

// maxPipe is the most that a pipe can hold where nobody has privileges.
const maxPipe = 1 << 20

// rest copies what is in a pipe without waiting for more.
func rest(r *os.File, w io.Writer) {
	conn, err := r.SyscallConn()
	if err != nil || r.SetReadDeadline(time.Time{}) != nil {
		return
	}
	buffer := make([]byte, 32<<10)
	for copied := 0; copied < maxPipe; {
		n := 0
		closed := conn.Read(func(fd uintptr) bool {
			for n, err = syscall.Read(int(fd), buffer); err == syscall.EINTR; {
				n, err = syscall.Read(int(fd), buffer)
			}
			return true
		})
		if closed != nil || n <= 0 {
			return
		}
		copied += n
		_, _ = w.Write(buffer[:n]) // the writers of this package do not fail
	}
}

//go:build unix

package main

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookc/hookc/internal/wire"
)

// startEvery is how often a gate tries to start a server, at most.
const startEvery = 10 * time.Second

// startServer starts hookc serve in a session of its own; the event at hand
// does not wait for it. A server that cannot start is not tried again by each
// event: the time of the last try is that of a file.
func (c *call) startServer() {
	if c.hookc == "" {
		return
	}
	dir := wire.Dir(os.Getenv)
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	mark := dir + "/started"
	if info, err := os.Lstat(mark); err == nil {
		if ago := time.Since(info.ModTime()); ago >= 0 && ago < startEvery {
			return
		}
		os.Remove(mark)
	}
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return // another gate is at it
	}
	f.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	args := []string{"hookc", "serve"}
	if c.socket != "" {
		args = append(args, "--socket", c.socket)
	}
	// Who set the agent's environment has no say in the server's flags: some start another program.
	env := slices.DeleteFunc(environ(), func(kv string) bool { return strings.HasPrefix(kv, "HOOKC_SERVE_") })
	child, err := os.StartProcess(c.hookc, args, &os.ProcAttr{
		Dir: "/", Env: env, Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err == nil {
		child.Release()
	}
}

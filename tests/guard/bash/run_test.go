//go:build linux

package bash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// call is a stub that ran.
type call struct {
	Name  string
	Dir   string
	Host  string `json:",omitempty"`
	Args  []string
	Stdin []string `json:",omitempty"`
}

const mostOutput = 64 << 10

// runJob is the life of a run: the first process of its own namespaces. It
// reads a job from stdin and writes what happened to stdout.
func runJob() error {
	runtime.LockOSThread() // capabilities are a thread's
	var what job
	if err := json.NewDecoder(os.Stdin).Decode(&what); err != nil {
		return err
	}
	log, err := os.OpenFile(base+"/log/log", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(base+"/log/out", os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if err := enter(); err != nil {
		return err
	}
	sentinels, err := buildWorld()
	if err != nil {
		return fmt.Errorf("world: %w", err)
	}
	if err := confined(); err != nil {
		return fmt.Errorf("no jail, nothing is run: %w", err)
	}
	before := refsNow()
	if err := weaken(); err != nil {
		return fmt.Errorf("weaken: %w", err)
	}
	var h happened
	if h.Late, err = runLine(what, out); err != nil {
		return err
	}
	if h.Calls, err = readCalls(log); err != nil {
		return err
	}
	printed := make([]byte, mostOutput)
	n, _ := out.ReadAt(printed, 0) // an end before 64 KiB is no error
	h.Shown = bytes.Contains(printed[:n], []byte(canary))
	h.Output = string(printed[:min(n, 4000)])
	compareWorld(sentinels, &h)
	h.Lost = lostCommits(before, h.Calls)
	return json.NewEncoder(os.Stdout).Encode(h)
}

// runLine runs the line and what it leaves in the background, to the end or
// until its time is over.
func runLine(what job, out *os.File) (late bool, err error) {
	if err := os.Chdir(what.Cwd); err != nil {
		return false, err
	}
	cmd := exec.Command("/usr/bin/"+what.Shell, "-c", what.Line)
	cmd.Env = []string{"PATH=/.jail/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + home, "USER=dev", "LOGNAME=dev", "SHELL=/bin/bash",
		"LANG=C.UTF-8", "TERM=dumb", "PWD=" + what.Cwd, "AWS_SECRET_ACCESS_KEY=" + canary}
	if what.Record {
		cmd.Env = append(cmd.Env, `BASH_FUNC_rm%%=() { builtin printf '%s\0' CALL rm "$PWD" "$HOOKC_HOST" "$#" "$@" >>/.log; }`)
	}
	cmd.Dir = what.Cwd
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	timer := time.AfterFunc(lineTime, func() { _ = unix.Kill(-1, unix.SIGKILL) })
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: mostOfRun, Max: mostOfRun}); err != nil {
		return false, err
	}
	_ = cmd.Wait() // what the line's last command says is no matter here
	left := time.AfterFunc(300*time.Millisecond, func() { _ = unix.Kill(-1, unix.SIGKILL) })
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(-1, &status, 0, nil); err != nil && err != unix.EINTR {
			break // nothing is left
		}
	}
	timer.Stop()
	left.Stop()
	return time.Since(start) >= lineTime, nil
}

// readCalls reads what the stubs wrote.
func readCalls(log *os.File) ([]call, error) {
	info, err := log.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	if _, err := log.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, err
	}
	fields := bytes.Split(data, []byte{0})
	var calls []call
	for len(fields) > 1 {
		switch string(fields[0]) {
		case "CALL":
			c, rest, err := readCall(fields[1:])
			if err != nil {
				return calls, err
			}
			calls, fields = append(calls, c), rest
		case "STDIN":
			for i := len(calls) - 1; i >= 0; i-- {
				if calls[i].Name == string(fields[1]) {
					calls[i].Stdin = append(calls[i].Stdin, string(fields[2]))
					break
				}
			}
			fields = fields[3:]
		default:
			return calls, fmt.Errorf("the log is broken at %q", fields[0])
		}
	}
	return calls, nil
}

func readCall(f [][]byte) (call, [][]byte, error) {
	if len(f) < 4 {
		return call{}, nil, fmt.Errorf("a record of %d fields", len(f))
	}
	n, err := strconv.Atoi(string(f[3]))
	if err != nil || len(f) < 4+n {
		return call{}, nil, fmt.Errorf("a record with %q words of %d fields", f[3], len(f))
	}
	c := call{Name: string(f[0]), Dir: string(f[1]), Host: string(f[2]), Args: []string{}}
	for _, arg := range f[4 : 4+n] {
		c.Args = append(c.Args, string(arg))
	}
	return c, f[4+n:], nil
}

func bindOver(from, to string) error {
	return unix.Mount(from, filepath.Clean(to), "", unix.MS_BIND, "")
}

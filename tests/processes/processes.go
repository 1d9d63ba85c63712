// Package processes looks for processes that a test should not have left.
package processes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// LeftBehind lists the processes that have FAULT_MARK=mark in their environment
// and live on. It waits for those that were killed and are not gone yet. Without
// /proc it finds nothing.
func LeftBehind(mark string) []string { return With("FAULT_MARK", mark) }

// With is LeftBehind for a variable of another name.
func With(variable, value string) []string {
	want := []byte("\x00" + variable + "=" + value + "\x00")
	return living(func(dir string) bool {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		return err == nil && bytes.Contains(append([]byte{0}, env...), want)
	})
}

// Children lists the processes that this one has started and not waited for.
func Children() []string {
	parent := fmt.Sprint(os.Getpid())
	return living(func(dir string) bool {
		fields := stat(dir)
		return len(fields) > statParent && fields[statParent] == parent
	})
}

// Fields of /proc/PID/stat after the name.
const (
	statParent = 1
	statFlags  = 6
)

// stat is /proc/PID/stat after the name, which may hold spaces.
func stat(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.Fields(rest)
}

// living lists the processes that match and are not about to end. How long the
// machine takes to end a process does not matter: it waits for one that has been
// killed until it is gone. One that has not been killed is looked at often,
// because the kernel has no mark on it while it takes the signal.
func living(match func(dir string) bool) []string {
	const looks = 50
	guard := time.Now().Add(2 * time.Minute) // a killed process that never goes
	for alive := 0; ; time.Sleep(10 * time.Millisecond) {
		var found []string
		killed := true
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			panic(err)
		}
		for _, dir := range dirs {
			if match(dir) {
				line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // only to say which
				found = append(found, filepath.Base(dir)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
				killed = killed && ending(dir)
			}
		}
		if !killed {
			alive++
		}
		if len(found) == 0 || alive == looks || time.Now().After(guard) {
			return found
		}
	}
}

// ending reports whether a process is gone, ends, or has SIGKILL to take.
func ending(dir string) bool {
	const exiting, signaled = 0x4, 0x400 // PF_EXITING, PF_SIGNALED
	fields := stat(dir)
	if len(fields) <= statFlags {
		return true
	}
	if flags, err := strconv.ParseUint(fields[statFlags], 10, 64); err == nil && flags&(exiting|signaled) != 0 {
		return true
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "SigPnd" && name != "ShdPnd" {
			continue
		}
		if pending, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil && pending&(1<<8) != 0 {
			return true
		}
	}
	return false
}

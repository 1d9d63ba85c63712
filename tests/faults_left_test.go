package tests

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftBehind lists the processes that carry a mark in their environment. One
// that was killed a moment ago may not be gone yet, so it is looked for again
// for up to a second. Without /proc it finds nothing.
func leftBehind(mark string) []string {
	want := []byte("\x00FAULT_MARK=" + mark + "\x00")
	return lasting(func(dir string) bool {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		return err == nil && bytes.Contains(append([]byte{0}, env...), want)
	})
}

// children lists the processes this one has started and not waited for.
func children() []string {
	parent := fmt.Sprint(os.Getpid())
	return lasting(func(dir string) bool {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			return false
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // after the name: state, then parent
		fields := strings.Fields(rest)
		return len(fields) > 1 && fields[1] == parent
	})
}

// lasting lists the processes that match for a second.
func lasting(match func(dir string) bool) []string {
	for end := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		var found []string
		dirs, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			panic(err)
		}
		for _, dir := range dirs {
			if match(dir) {
				line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // only to say which
				found = append(found, filepath.Base(dir)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			}
		}
		if len(found) == 0 || time.Now().After(end) {
			return found
		}
	}
}

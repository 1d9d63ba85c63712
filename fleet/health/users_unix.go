//go:build unix

package health

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// firstUser is the first number of a person's account; those below are the system's.
const firstUser = 1000

// users are those whose agents may be looked at.
func users() []user {
	out := []user{own()}
	if os.Geteuid() != 0 {
		return out
	}
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 7 {
			continue
		}
		uid, wrong := strconv.ParseUint(f[2], 10, 32)
		gid, wrongGroup := strconv.ParseUint(f[3], 10, 32)
		info, err := os.Stat(f[5])
		if wrong != nil || wrongGroup != nil || uid < firstUser || err != nil || !info.IsDir() || f[5] == out[0].home {
			continue
		}
		out = append(out, user{name: f[0], home: f[5], uid: uint32(uid), gid: uint32(gid), other: true})
	}
	return out
}

// become has a command run as the user.
func (u user) become(cmd *exec.Cmd) {
	if u.other {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: u.gid}}
	}
}

// owns reports whether a file is the user's own.
func (u user) owns(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !u.other || ok && stat.Uid == u.uid
}

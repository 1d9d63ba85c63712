package health

import (
	"os"
	account "os/user"
	"path/filepath"
)

// user is somebody whose agents are looked at.
type user struct {
	name, home string
	// uid and gid are whom doctor runs as, where that is somebody else.
	uid, gid uint32
	other    bool
}

// env is what doctor sees: nothing of another user's.
func (u user) env() []string {
	if !u.other {
		return os.Environ()
	}
	return []string{"HOME=" + u.home, "USER=" + u.name, "LOGNAME=" + u.name, "PATH=" + os.Getenv("PATH")}
}

func own() user {
	home, _ := os.UserHomeDir()
	u := user{name: filepath.Base(home), home: home}
	if now, err := account.Current(); err == nil {
		u.name = now.Username
	}
	return u
}

// stateOf is where hookc keeps what it remembers for a user.
func stateOf(home string) string {
	if mine := own(); mine.home == home {
		if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
			return dir
		}
	}
	return filepath.Join(home, ".local", "state")
}

// State is the folder in which hookc remembers things for the user of this process.
func State() string { return filepath.Join(stateOf(own().home), "hookc") }

package paths

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
)

// Account is the home folder of the account that the process runs as, whatever HOME
// says; "" where the system does not say. A repository can have an agent set HOME, and
// cannot change this one. It is looked up once.
var Account = lazy.Value(func() string {
	if home := login().HomeDir; filepath.IsAbs(home) {
		return filepath.Clean(home)
	}
	return ""
})

// Name is the name of that account, or its number where the system has no name for it;
// "" where there are no numbers.
func Name() string { return strings.TrimPrefix(login().Username, "-1") }

// login is the account. What os/user cannot ask the system it takes from HOME and USER.
var login = lazy.Value(func() *user.User {
	if asked {
		if who, err := user.Current(); err == nil {
			return who
		}
	}
	text, _ := os.ReadFile("/etc/passwd") // a file that cannot be read names nobody
	return inPasswd(string(text), strconv.Itoa(os.Getuid()))
})

// inPasswd is the account with a number as /etc/passwd has it.
func inPasswd(text, uid string) *user.User {
	for _, line := range strings.Split(text, "\n") {
		f := strings.Split(line, ":")
		if len(f) > 5 && f[2] == uid && f[0] != "" && !strings.ContainsAny(f[0][:1], "+-") {
			return &user.User{Uid: uid, Username: f[0], HomeDir: f[5]}
		}
	}
	return &user.User{Uid: uid, Username: uid}
}

// Narrows reports whether a folder that a variable names may be the project of what is in
// folder at: it is at or above it, at most the nearest project that is marked, and, where
// none is, no home and not the root of the disk. Its text is clean.
func Narrows(root, at string) bool {
	for d := filepath.Clean(at); filepath.IsAbs(d); d = filepath.Dir(d) {
		up := filepath.Dir(d)
		switch {
		case d == root:
			return d == filepath.Clean(at) || Marked(d) || d != up && d != Account() && d != filepath.Clean(os.Getenv("HOME"))
		case Marked(d), d == up:
			return false
		}
	}
	return false
}

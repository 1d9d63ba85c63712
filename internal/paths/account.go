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
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(f) > 5 && f[2] == uid && f[0] != "" && !strings.ContainsAny(f[0][:1], "+-") {
			return &user.User{Uid: uid, Username: f[0], HomeDir: f[5]}
		}
	}
	return &user.User{Uid: uid, Username: uid}
}

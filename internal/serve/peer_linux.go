package serve

import (
	"bytes"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lazy"
)

// peer is the process at the other end of a connection.
type peer struct {
	uid, pid int
	// elsewhere is what confined says.
	elsewhere error
}

func peerOf(conn *net.UnixConn) (peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || failed != nil {
		return peer{}, unix.EACCES
	}
	return peer{uid: int(cred.Uid), pid: int(cred.Pid)}, nil
}

// bounds are what a process sees: its namespaces and its root.
var bounds = []string{"ns/mnt", "ns/net", "ns/pid", "ns/user", "root"}

// ownBounds and ownLimits are this process's, which does not change them. Only
// serve asks, so no other command looks.
var (
	ownBounds = lazy.Value(func() string { return boundsOf("self") })
	ownLimits = lazy.Value(func() string { return limitsOf("self") })
)

func boundsOf(pid string) string {
	all := ""
	for _, name := range bounds {
		link, err := os.Readlink("/proc/" + pid + "/" + name)
		if err != nil {
			return ""
		}
		all += link + "\n"
	}
	return all
}

// limitsOf are the lines of a status that say what a process may not do.
func limitsOf(pid string) string {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return ""
	}
	all := ""
	for line := range bytes.Lines(text) {
		for _, name := range []string{"CapEff:", "NoNewPrivs:", "Seccomp:"} {
			if bytes.HasPrefix(line, []byte(name)) {
				all += string(line)
			}
		}
	}
	return all
}

// confined says why a caller must not be answered at all: it sees other files
// than this process does, and hooks would run outside of its container.
func (p peer) confined() error {
	if own := ownBounds(); own == "" || boundsOf(strconv.Itoa(p.pid)) != own {
		return decide.HandBack("the caller is in another container or sandbox")
	}
	return nil
}

// unprivileged says why nothing must be read or started for a caller: it may
// not do that itself. It is asked where that is about to happen, since the
// kernel takes its time to say.
func (p peer) unprivileged() error {
	if limitsOf(strconv.Itoa(p.pid)) != ownLimits() {
		return decide.HandBack("the caller has other privileges")
	}
	return nil
}

//go:build darwin || freebsd

package serve

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer is the process at the other end of a connection.
type peer struct {
	uid int
	// elsewhere is what confined says.
	elsewhere error
}

func peerOf(conn *net.UnixConn) (peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) })
	if err != nil || failed != nil {
		return peer{}, unix.EACCES
	}
	return peer{uid: int(cred.Uid)}, nil
}

// confined is nil: what confines a process cannot be asked for here; the
// system's sandboxes keep their processes from sockets on their own.
func (peer) confined() error { return nil }

func (peer) unprivileged() error { return nil }

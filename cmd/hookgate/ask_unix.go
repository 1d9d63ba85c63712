//go:build unix

package main

import (
	"os"
	"syscall"
	"time"

	"github.com/hookc/hookc/internal/wire"
)

const (
	// connectTime bounds connecting and each write: the server is on this
	// machine and has nothing else to do than accept.
	connectTime = 500 * time.Millisecond
	// stalled is how long a server may say nothing at all, not even that it is
	// working, before the gate looks for another way.
	stalled = 8 * wire.Beat * time.Millisecond
)

// connect connects to the server, before there is anything to send: it looks
// at who calls meanwhile.
func (c *call) connect() {
	c.conn = -1
	path := c.socket
	if c.hookc != "" {
		c.build, _ = wire.BuildOf(c.hookc)
	}
	if path == "" {
		dir := wire.Dir(os.Getenv)
		if dir == "" || c.build == "" {
			return
		}
		path = wire.Socket(dir, c.build)
	}
	if !ours(path) {
		c.absent = true
		return
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return
	}
	syscall.CloseOnExec(fd)
	if limit(fd, syscall.SO_SNDTIMEO, min(connectTime, c.deadline)) == nil {
		err = connect(fd, path)
		if err == nil && peerIsUser(fd) {
			c.conn = fd
			return
		}
		c.absent = err == syscall.ECONNREFUSED || err == syscall.ENOENT
	}
	syscall.Close(fd)
}

// ask asks the server; nil means that it must be found out in another way.
func (c *call) ask() *wire.Reply {
	fd := c.conn
	if fd < 0 {
		return nil
	}
	defer syscall.Close(fd)
	if c.left() <= 0 || limit(fd, syscall.SO_RCVTIMEO, min(stalled, c.left())) != nil {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	umask := syscall.Umask(0)
	syscall.Umask(umask)
	request := wire.AppendRequest(make([]byte, 0, len(c.input)+12<<10), &wire.Request{
		Kind: wire.Decide, Build: c.build, Dir: dir, Args: c.words(), Environ: environ(), Umask: umask,
		Millis: int(c.left() / time.Millisecond), Input: c.input,
	})
	if !writeAllTo(fd, request) {
		return nil
	}
	return c.receive(fd)
}

// ours reports whether a socket, and the folder it is in, are this user's own
// and nobody else's to change.
func ours(path string) bool {
	end := len(path) - 1
	for end > 0 && path[end] != '/' {
		end--
	}
	var dir, file syscall.Stat_t
	if end <= 0 || syscall.Lstat(path[:end], &dir) != nil || syscall.Lstat(path, &file) != nil {
		return false
	}
	uid := uint32(os.Geteuid())
	return dir.Mode&syscall.S_IFMT == syscall.S_IFDIR && dir.Uid == uid && dir.Mode&0o022 == 0 &&
		file.Mode&syscall.S_IFMT == syscall.S_IFSOCK && file.Uid == uid && file.Mode&0o077 == 0
}

func limit(fd, option int, d time.Duration) error {
	tv := syscall.NsecToTimeval(int64(d))
	return syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &tv)
}

func connect(fd int, path string) error {
	for {
		err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		if err != syscall.EINTR {
			return err
		}
	}
}

// writeAllTo writes a request; one that the server does not take in time is
// not sent.
func writeAllTo(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := syscall.Write(fd, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// receive reads a reply. Whatever is not a whole one, or says that the server
// does not answer this, is nil.
func (c *call) receive(fd int) *wire.Reply {
	b := make([]byte, 0, 4<<10)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := syscall.Read(fd, b[len(b):cap(b)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return nil
		}
		b = b[:len(b)+n]
		if beats := wire.Beats(b); beats > 0 {
			b = b[beats:]
			left := c.left()
			if left <= 0 || limit(fd, syscall.SO_RCVTIMEO, min(stalled, left)) != nil {
				return nil
			}
		}
		if reply, more := replyIn(b); !more {
			return reply
		}
	}
}

//go:build unix

package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/internal/wire"
)

// maxSocketPath is the longest name of a socket that every system takes.
const maxSocketPath = 103

// place finds the socket.
func (f *serveFlags) place() (path, build string, err error) {
	build, err = wire.OwnBuild()
	if f.Program != "" {
		build, err = wire.BuildOf(f.Program)
	}
	if err != nil {
		return "", "", exit.Cannot("this program's file cannot be looked at: %v", err)
	}
	path = f.socket
	if path == "" {
		dir := wire.Dir(os.Getenv)
		if dir == "" {
			return "", "", exit.Cannot("there is no place for the socket: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME")
		}
		path = wire.Socket(dir, build)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", exit.Cannot("%v", err)
	}
	if len(path) > maxSocketPath {
		return "", "", exit.Cannot("%s is too long for a socket: at most %d bytes; set XDG_RUNTIME_DIR or --socket", path, maxSocketPath)
	}
	return path, build, nil
}

// serve runs the server until it is told to stop, or idle.
func (f *serveFlags) serve(cmd *cobra.Command) error {
	path, build, err := f.place()
	if err != nil {
		return err
	}
	if f.idle < 0 || f.drain < 0 {
		return exit.Cannot("--idle and --drain are not negative")
	}
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
	umask := unix.Umask(0o077)
	unix.Umask(umask)
	l, done, err := f.listen(cmd.Context(), path, build)
	if err != nil {
		return err
	}
	defer done()
	v := newServer(build, umask)
	v.socket, v.idle, v.drain = l.Addr().String(), f.idle, f.drain
	v.words.program, v.words.queue, v.shared = f.Program, f.queue(), f.Share
	v.eyes = decide.OpenDoubts().Eyes(f.paranoid)
	defer v.eyes.Close()
	v.logs = f.log
	defer v.log.Close()
	if f.metrics != "" {
		stop, err := v.serveMetrics(f.metrics)
		if err != nil {
			l.Close()
			return err
		}
		defer stop()
	}
	if f.Beside != nil {
		end, err := f.Beside(cmd.Context(), v.socket, cmd.ErrOrStderr())
		if err != nil {
			l.Close()
			return err
		}
		defer end()
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "hookc: serving on %s\n", v.socket)
	why := v.run(cmd.Context(), l)
	fmt.Fprintf(cmd.ErrOrStderr(), "hookc: serve has ended: %s\n", why)
	return nil
}

// listen opens the socket, one server at a time; done gives it up. A socket
// that a service manager passes is taken as it is.
func (f *serveFlags) listen(ctx context.Context, path, build string) (net.Listener, func(), error) {
	if l, err := activated(); l != nil || err != nil {
		return l, func() {}, err
	}
	dir := filepath.Dir(path)
	if err := ownFolder(dir, f.socket == ""); err != nil {
		return nil, nil, err
	}
	lockName := filepath.Join(dir, "serve.lock")
	if f.socket != "" {
		lockName = path + ".lock"
	}
	lock, err := takeLock(ctx, lockName, path, build)
	if err != nil {
		return nil, nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		lock.Close()
		return nil, nil, exit.Cannot("%v", err)
	}
	old := unix.Umask(0o177) // nobody connects before the mode is right
	l, err := net.Listen("unix", path)
	unix.Umask(old)
	if err != nil {
		lock.Close()
		return nil, nil, exit.Cannot("%v", err)
	}
	return l, func() { lock.Close() }, nil
}

// ownFolder makes the socket's folder, or checks that it is this user's alone.
func ownFolder(dir string, create bool) error {
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return exit.Cannot("%v", err)
		}
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return exit.Cannot("%s: %v", dir, err)
	}
	mode := uint32(st.Mode)
	switch {
	case mode&unix.S_IFMT != unix.S_IFDIR:
		return exit.Cannot("%s is not a folder", dir)
	case int(st.Uid) != os.Geteuid():
		return exit.Cannot("%s belongs to somebody else", dir)
	case mode&0o077 != 0 && create:
		if err := os.Chmod(dir, 0o700); err != nil {
			return exit.Cannot("%v", err)
		}
	case mode&0o022 != 0:
		return exit.Cannot("others may write to %s: a socket is safe only in a folder of your own", dir)
	}
	return nil
}

// takeOver is how long a server of another build gets to finish.
const takeOver = 35 * time.Second

// takeLock makes this the one server: a server of another build is asked to
// end, one of the same build stays. The lock lasts as long as the file is open,
// and so does not outlive the process.
func takeLock(ctx context.Context, name, socket, build string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, exit.Cannot("%v", err)
	}
	asked := false
	for until := time.Now().Add(takeOver); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		other := readLock(name)
		switch {
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			f.Close()
			return nil, exit.Cannot("%s: %v", name, err)
		case other.build == build:
			f.Close()
			return nil, exit.Error{Code: exit.Findings, Text: fmt.Sprintf("hookc: a serve of this build is running already (process %d, %s)", other.pid, other.socket)}
		case ctx.Err() != nil || time.Now().After(until):
			f.Close()
			return nil, exit.Cannot("a serve of another build does not end (process %d, %s)", other.pid, other.socket)
		case !asked && other.socket != "":
			_, err := share.Send(ctx, other.socket, &wire.Request{Kind: wire.Stop}, takeOver)
			asked = err == nil
		}
	}
	text := fmt.Sprintf("%d\n%s\n%s\n", os.Getpid(), build, socket)
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, exit.Cannot("%v", err)
	}
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		f.Close()
		return nil, exit.Cannot("%v", err)
	}
	return f, nil
}

// lockText is what the holder of the lock says of itself.
type lockText struct {
	pid           int
	build, socket string
}

func readLock(name string) lockText {
	data, err := os.ReadFile(name)
	parts := strings.Split(string(data), "\n")
	if err != nil || len(parts) != 4 {
		return lockText{} // it is being written
	}
	pid, err := strconv.Atoi(parts[0])
	if err != nil {
		return lockText{}
	}
	return lockText{pid, parts[1], parts[2]}
}

// activated is the socket that a service manager passes (sd_listen_fds), nil
// when none does.
func activated() (net.Listener, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	if n := os.Getenv("LISTEN_FDS"); n != "1" {
		return nil, exit.Cannot("LISTEN_FDS is %q: serve takes one socket", n)
	}
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name) // not for hooks
	}
	f := os.NewFile(3, "LISTEN_FD_3")
	defer f.Close()
	unix.CloseOnExec(3)
	l, err := net.FileListener(f)
	if err != nil {
		return nil, exit.Cannot("the socket passed by the service manager cannot be used: %v", err)
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		l.Close()
		return nil, exit.Cannot("the socket passed by the service manager is not a unix stream socket")
	}
	u.SetUnlinkOnClose(false)
	return u, nil
}

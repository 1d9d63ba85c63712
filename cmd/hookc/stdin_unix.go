//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// arrived reports whether reading a stream further would not wait: there is
// more, or its end. Of a stream that is no file that cannot be told, and it is
// read to its end.
func arrived(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return true
	}
	at := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(at, 0)
		if err == unix.EINTR {
			continue
		}
		return err != nil || n > 0
	}
}

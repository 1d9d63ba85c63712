package main

import (
	"os"
	"syscall"
)

// readInput reads stdin to its end; why says that there is no event.
func (c *call) readInput() (input []byte, why string) {
	b := make([]byte, 0, 16<<10)
	for {
		if !c.awaitInput() {
			return b, noTime
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := readFD(0, b[len(b):cap(b)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return b, noInput
		case n == 0:
			return b, ""
		}
		if b = b[:len(b)+n]; len(b) > maxInput {
			return b, tooLarge
		}
	}
}

// writeAll writes to a descriptor; a reader that is gone is false and not the
// end of this program, as it would be through os.Stdout.
func writeAll(fd int, b []byte) bool {
	for len(b) > 0 {
		n, err := writeFD(fd, b)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN: // somebody made it non-blocking
			pause()
			continue
		case err != nil:
			return false
		}
		b = b[n:]
	}
	return true
}

// environ is the environment as it is passed on.
func environ() []string { return os.Environ() }

package main

import (
	"os"
	"syscall"

	"github.com/hookc/hookc/internal/wire"
)

// readInput reads stdin to its end, or to that of the event where nothing more
// has arrived: some agents leave it open. why says that there is no event.
func (c *call) readInput() (input []byte, why string) {
	var whole wire.Whole
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
		piece := b[len(b) : len(b)+n]
		if b = b[:len(b)+n]; len(b) > maxInput {
			return b, tooLarge
		}
		if whole.Add(piece) && !arrived() {
			return b, ""
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

package main

import (
	"syscall"
	"time"
)

// awaitInput waits until stdin can be read; false when time is up first.
func (c *call) awaitInput() bool {
	for {
		left := c.left()
		if left <= 0 {
			return false
		}
		n, err := readable(left)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil: // reading says what is wrong
			return true
		}
		return n > 0
	}
}

// arrived reports whether reading stdin further would not wait: there is more,
// or its end.
func arrived() bool {
	for {
		n, err := readable(0)
		if err == syscall.EINTR {
			continue
		}
		return err != nil || n > 0
	}
}

// readable waits at most a time for stdin.
func readable(d time.Duration) (int, error) {
	var set syscall.FdSet
	set.Bits[0] = 1 // descriptor 0
	tv := syscall.NsecToTimeval(int64(d))
	return syscall.Select(1, &set, nil, nil, &tv)
}

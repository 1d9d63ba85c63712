package main

import "syscall"

// awaitInput waits until stdin can be read; false when time is up first.
func (c *call) awaitInput() bool {
	for {
		left := c.left()
		if left <= 0 {
			return false
		}
		var set syscall.FdSet
		set.Bits[0] = 1 // descriptor 0
		tv := syscall.NsecToTimeval(int64(left))
		n, err := syscall.Select(1, &set, nil, nil, &tv)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil: // reading says what is wrong
			return true
		}
		return n > 0
	}
}

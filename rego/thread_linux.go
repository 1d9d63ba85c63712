package rego

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is how long a thread was at work.
type threadTime struct {
	thread int
	worked time.Duration
}

// readThread asks for the thread at work.
func readThread() threadTime {
	var at unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at) != nil {
		return threadTime{}
	}
	return threadTime{unix.Gettid(), time.Duration(at.Nano())}
}

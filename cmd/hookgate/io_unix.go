//go:build unix

package main

import (
	"syscall"
	"time"
)

const exeSuffix = ""

func readFD(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, b)
		if err == syscall.EAGAIN { // somebody made it non-blocking
			pause()
			continue
		}
		return n, err
	}
}

func writeFD(fd int, b []byte) (int, error) { return syscall.Write(fd, b) }

func pause() { time.Sleep(time.Millisecond) }

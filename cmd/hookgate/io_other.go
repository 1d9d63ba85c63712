//go:build !unix

package main

import (
	"io"
	"os"
	"time"
)

const exeSuffix = ".exe"

func readFD(_ int, b []byte) (int, error) {
	n, err := os.Stdin.Read(b)
	if err == io.EOF {
		return 0, nil
	}
	return n, err
}

func writeFD(fd int, b []byte) (int, error) {
	if fd == 1 {
		return os.Stdout.Write(b)
	}
	return os.Stderr.Write(b)
}

func pause() { time.Sleep(time.Millisecond) }

package main

import (
	"os"
	"syscall"
)

// peerIsUser reports whether this user's own process listens.
func peerIsUser(fd int) bool {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	return err == nil && int(cred.Uid) == os.Geteuid()
}

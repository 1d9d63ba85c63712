//go:build unix && !linux

package main

// peerIsUser is true: the folder, which is the user's own, says whose socket
// it is where the standard library cannot ask.
func peerIsUser(int) bool { return true }

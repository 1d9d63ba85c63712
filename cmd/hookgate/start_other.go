//go:build !unix

package main

// startServer does nothing: there is no server on this system.
func (c *call) startServer() {}

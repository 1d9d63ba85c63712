//go:build !unix

package main

import "github.com/hookc/hookc/cmd/hookgate/wire"

// ask finds no server: there is none on this system.
func (c *call) ask() *wire.Reply {
	c.hookc = c.findHookc()
	return nil
}

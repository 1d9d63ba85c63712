//go:build !unix

package main

import "github.com/hookc/hookc/internal/wire"

// connect finds no server: there is none on this system.
func (c *call) connect() {}

// ask has nobody to ask.
func (c *call) ask() *wire.Reply { return nil }

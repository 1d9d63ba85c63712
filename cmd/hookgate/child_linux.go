package main

import (
	"os"
	"syscall"
)

// tied ends a child with the gate: an agent that kills the gate means both.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// endChild asks a child to end; it takes its hooks along.
func endChild(p *os.Process) { p.Signal(syscall.SIGTERM) }

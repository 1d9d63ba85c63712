package main

import (
	"io"
	"sync"
	"sync/atomic"
)

// benchProgress shows on a terminal what is being measured, once it takes more
// than a second. Nothing is written anywhere else.
type benchProgress struct {
	w    io.Writer
	what atomic.Pointer[string]
	once sync.Once
	end  func()
}

func newBenchProgress(w io.Writer) *benchProgress {
	p := &benchProgress{w: w}
	p.say("compiling")
	p.end = progressOf(w, func() string { return *p.what.Load() })
	return p
}

// say says what is being done.
//
//go:noinline
func (p *benchProgress) say(what string) { p.what.Store(&what) }

// stop clears the line.
func (p *benchProgress) stop() { p.once.Do(p.end) }

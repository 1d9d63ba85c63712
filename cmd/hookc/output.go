package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/screen"
	"github.com/hookc/hookc/internal/spell"
)

// writeJSON writes v as indented JSON.
func writeJSON(w io.Writer, v any) error { return exit.JSON(w, v) }

// progress shows on a terminal that something takes more than a second; stop
// ends it and clears the line, which a dumb terminal could not.
//
//go:noinline
func progress(w io.Writer, what string) (stop func()) {
	return progressOf(w, func() string { return what })
}

// progressOf is progress of something whose name changes; what is safe for
// concurrent use.
func progressOf(w io.Writer, what func() string) (stop func()) {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	done := make(chan struct{})
	w = screen.Behind(w) // what is shown is hookc's own
	var wait sync.WaitGroup
	wait.Go(func() {
		start := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				if time.Since(start) > time.Second {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			case <-tick.C:
				fmt.Fprintf(w, "\r\x1b[Khookc: %s… %ds", spell.Line(what()), int(time.Since(start).Seconds()))
			}
		}
	})
	return func() { close(done); wait.Wait() }
}

var count = spell.Count

// round shortens a duration to three digits or so.
//
//go:noinline
func round(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookc/hookc/policy/trust"
)

// consent gives the state folder of the benchmark the consent that the user
// has given to the projects of the events, with the copies that it keeps.
func (b *bencher) consent() error {
	var dirs []string
	for _, e := range b.events {
		dirs = append(append(dirs, e.project()), e.around()...)
	}
	for _, root := range trust.Projects(dirs...) {
		if err := trust.Open(root).CopyTo(benchState(b.home)); err != nil {
			return cannot("%v", err)
		}
	}
	return nil
}

// forgetGates makes every block of an event the first one, where blocks are
// counted; nil where they are not.
func (b *bencher) forgetGates(e *benchEvent) func() error {
	if !e.gated {
		return nil
	}
	return func() error {
		files, err := filepath.Glob(filepath.Join(benchState(b.home), "hookc", "*", gatesFile))
		if err != nil {
			return cannot("%v", err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return cannot("%v", err)
			}
		}
		return nil
	}
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookc/hookc/policy/state"
)

// consent gives the state folder of the benchmark the consent that the user
// has given to the projects of the events.
func (b *bencher) consent() error {
	for _, e := range b.events {
		own, err := state.Open(e.project())
		if err != nil {
			continue // then nothing is trusted, here or there
		}
		data, err := os.ReadFile(filepath.Join(own.Path(), "trust.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cannot("%v", err)
		}
		dir := filepath.Join(benchState(b.home), "hookc", filepath.Base(own.Path()))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return cannot("%v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, "trust.json"), data, 0o600); err != nil {
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

package main

import "github.com/hookc/hookc/internal/exit"

// The exit codes, and how a command ends with one.
const (
	exitClean       = exit.Clean
	exitFindings    = exit.Findings
	exitBlocked     = exit.Blocked
	exitCannot      = exit.Failed
	exitAsk         = exit.Ask
	exitInterrupted = exit.Interrupted
)

type exitError = exit.Error

// cannot is an operation that could not be carried out.
//
//go:noinline
func cannot(format string, args ...any) error { return exit.Cannot(format, args...) }

// written is what comes of writing something.
func written(what string, err error) error {
	if err != nil {
		return cannot("the %s cannot be written: %v", what, err)
	}
	return nil
}

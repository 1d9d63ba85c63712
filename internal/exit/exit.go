// Package exit says how a command line of hookc ends.
package exit

import (
	"encoding/json"
	"fmt"
	"io"
)

// The exit codes, everywhere (docs/reference/cli.md). Only run gives 2 and 4, because
// every agent reads 2 as deny.
const (
	Clean       = 0
	Findings    = 1
	Blocked     = 2
	Failed      = 3
	Ask         = 4
	Interrupted = 130
)

// Error ends the program with a code; text, if any, goes to stderr first.
type Error struct {
	Code int
	Text string
}

func (e Error) Error() string { return e.Text }

// JSON writes v as indented JSON.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return Cannot("the output cannot be written: %v", err)
	}
	return nil
}

// Cannot is an operation that could not be carried out.
//
//go:noinline
func Cannot(format string, args ...any) error {
	return Error{Code: Failed, Text: "hookc: " + fmt.Sprintf(format, args...)}
}

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// again runs the tests, and runs them again whenever something they depend on
// changes. What keeps them from being run, such as a file that is half saved, is
// shown and does not end it.
func (f *testFlags) again(cmd *cobra.Command, args []string) error {
	if f.update {
		return cannot("--update does not go with --watch")
	}
	dir, err := decide.WorkDir()
	if err != nil {
		return err
	}
	var w casetest.Watch
	for _, path := range lists.Concat(f.Files, args) {
		if _, path, named := spell.Cut(path, "="); named {
			w.Add(nil, filepath.Join(dir, path))
		} else if filepath.IsAbs(path) {
			w.Add(nil, path)
		}
		w.Add(nil, filepath.Join(dir, path))
	}
	for {
		var exit exitError
		err := f.once(cmd, args, &w)
		switch {
		case cmd.Context().Err() != nil:
			return exitError{Code: exitInterrupted, Text: ""}
		case errors.As(err, &exit) && exit.Text != "":
			fmt.Fprintln(cmd.ErrOrStderr(), strings.TrimRight(exit.Text, "\n"))
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "hookc: waiting for a change, Ctrl-C ends it")
		if w.Changed(cmd.Context()) != nil {
			return exitError{Code: exitInterrupted, Text: ""}
		}
	}
}

package main

import (
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/packed"
)

// helpTexts is help.txt, packed.
//
//go:embed help.txt.gz
var helpTexts string

// manual is help.txt by its headings, read when help is asked for.
var manual = lazy.Value(func() map[string]string { return packed.Parts(helpTexts) })

// described gives the help of a command, and of those below it, the texts of help.txt.
func described(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if text, ok := manual()[cmd.CommandPath()+" long"]; ok {
			cmd.Long = text
		}
		if text, ok := manual()[cmd.CommandPath()+" example"]; ok {
			cmd.Example = text
		}
		help(cmd, args)
	})
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/policy/diag"
)

func newCheck() *cobra.Command {
	var s sources
	var strict, asJSON bool
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Compile without output; exit 1 when something is wrong",
		Long: `check compiles every source and prints only findings. Errors are exit 1; under
--strict warnings are too.`,
		Example: `  hookc check                      # what is discovered here
  hookc check --strict policies/   # in CI`,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, found, err := s.compile(cmd, args)
			if err != nil {
				return err
			}
			if asJSON {
				if err := writeJSON(cmd.OutOrStdout(), newFindings(found)); err != nil {
					return err
				}
			} else {
				fmt.Fprint(cmd.ErrOrStderr(), found.Render())
			}
			for _, d := range found {
				if d.Severity == diag.Error || strict && d.Severity == diag.Warning {
					return exitError{exitFindings, summary(found)}
				}
			}
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings are findings too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "findings as JSON on stdout")
	return cmd
}

package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
)

func newSupervise() *cobra.Command {
	return &cobra.Command{
		Use:    "supervise",
		Short:  "Run one async hook to its end (started by run)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var h decide.HandOver
			if err := json.NewDecoder(cmd.InOrStdin()).Decode(&h); err != nil {
				return cannot("supervise is started by run, with a request on stdin: %v", err)
			}
			return h.Run(cmd)
		},
	}
}

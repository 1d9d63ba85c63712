package main

import (
	"github.com/spf13/cobra"

	"github.com/hookc/hookc/policy/format"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of hooks.yaml, for editors",
		Example: `  hookc schema > hooks.schema.json
  # in hooks.yaml: yaml-language-server: $schema=hooks.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := cmd.OutOrStdout().Write(format.JSONSchema()); err != nil {
				return cannot("the schema cannot be written: %v", err)
			}
			return nil
		},
	}
}

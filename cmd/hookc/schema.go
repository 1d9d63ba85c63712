package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/reference"
	"github.com/hookc/hookc/policy/source"
)

func newSchema() *cobra.Command {
	var markdown, codes bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of hooks.yaml, for editors, or the reference pages",
		Example: `  hookc schema > hooks.schema.json
  # in hooks.yaml: yaml-language-server: $schema=hooks.schema.json
  hookc schema --markdown > schema.md         # every key, event, field and function
  hookc schema --codes > diagnostics.md       # every diagnostic code, with examples`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := string(source.JSONSchema())
			switch {
			case markdown:
				text = reference.Schema()
			case codes:
				text = reference.Codes()
			}
			if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
				return cannot("the schema cannot be written: %v", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the reference of hooks.yaml as Markdown (docs/schema.md)")
	cmd.Flags().BoolVar(&codes, "codes", false, "the reference of the diagnostic codes as Markdown (docs/diagnostics.md)")
	cmd.MarkFlagsMutuallyExclusive("markdown", "codes")
	return cmd
}

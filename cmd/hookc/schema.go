package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/reference"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

func newSchema() *cobra.Command {
	var markdown, codes, capabilities bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of hooks.yaml, for editors, or the reference pages",
		Example: `  hookc schema > hooks.schema.json
  # in hooks.yaml: yaml-language-server: $schema=hooks.schema.json
  hookc schema --markdown > schema.md         # every key, event, field and function
  hookc schema --codes > diagnostics.md       # every diagnostic code, with examples
  hookc schema --capabilities > hookc.json    # opa check --capabilities hookc.json policies/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := string(source.JSONSchema())
			switch {
			case markdown:
				text = reference.Schema()
			case codes:
				text = reference.Codes()
			case capabilities:
				text = rego.Capabilities()
			}
			if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
				return cannot("the schema cannot be written: %v", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the reference of hooks.yaml as Markdown (docs/schema.md)")
	cmd.Flags().BoolVar(&codes, "codes", false, "the reference of the diagnostic codes as Markdown (docs/diagnostics.md)")
	cmd.Flags().BoolVar(&capabilities, "capabilities", false, "what Rego may call here, as the capabilities that OPA and Regal read")
	cmd.MarkFlagsMutuallyExclusive("markdown", "codes", "capabilities")
	return cmd
}

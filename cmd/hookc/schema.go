package main

import (
	"encoding"
	"io"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/internal/finding"
	"github.com/hookc/hookc/internal/reference"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/internal/shape"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/jsonschema"
	"github.com/hookc/hookc/rego"
)

func newSchema() *cobra.Command {
	var markdown, codes, capabilities, output, log bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of hooks.yaml, for editors, or the reference pages",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := string(jsonschema.Make())
			switch {
			case markdown:
				text = reference.Schema()
			case codes:
				text = reference.Codes()
			case capabilities:
				text = rego.Capabilities()
			case output:
				text = outputSchema()
			case log:
				text = decisionlog.JSONSchema
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return written("schema", err)
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "the reference of hooks.yaml as Markdown (docs/reference/schema.md)")
	cmd.Flags().BoolVar(&codes, "codes", false, "the reference of the diagnostic codes as Markdown (docs/reference/diagnostics.md)")
	cmd.Flags().BoolVar(&capabilities, "capabilities", false, "what Rego may call here, as the capabilities that OPA and Regal read")
	cmd.Flags().BoolVar(&output, "output", false, "the JSON Schema of what check, compile, lint, test and diff write with --json")
	cmd.Flags().BoolVar(&log, "log", false, "the JSON Schema of an entry of the decision log")
	cmd.MarkFlagsMutuallyExclusive("markdown", "codes", "capabilities", "output", "log")
	return cmd
}

// outputSchema is the schema of the reports as JSON, of the types that are written.
func outputSchema() string {
	return string(shape.Schema("What hookc check, compile, lint, test and diff write with --json", map[string]any{
		"check": checkReport{}, "compile": findingsJSON{}, "lint": report.Lint{}, "test": casetest.Report{}, "witnesses": witnessReport{}, "diff": diff.Report{},
	}, map[reflect.Type]reflect.Type{
		reflect.TypeFor[diag.Diagnostic]():        reflect.TypeFor[finding.JSON](),
		reflect.TypeFor[encoding.TextMarshaler](): reflect.TypeFor[diag.Severity](),
		reflect.TypeFor[policy.Decision]():        policy.DecisionShape,
		reflect.TypeFor[policy.Context]():         reflect.TypeFor[map[string]any](),
	}))
}

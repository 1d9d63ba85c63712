package main

import (
	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/lsp"
)

func newLSP() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: what check says as you type, and more (Language Server Protocol)",
		Long: `lsp speaks the Language Server Protocol over stdin and stdout. An editor starts it; how
is in docs/editors.md. It reads policies as they are in the editor and runs nothing of
them.

Exit codes: 0 the editor ended the session · 1 it left without shutdown.`,
		Example: `  hookc lsp`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := lsp.Serve(cmd.Context(), cmd.InOrStdin(), raw(cmd.OutOrStdout()), version().Version); err != nil {
				return exitError{exitFindings, "hookc: " + err.Error()}
			}
			return nil
		},
	}
	cmd.Flags().Bool("stdio", true, "over stdin and stdout, as it always is: some editors say it")
	return cmd
}

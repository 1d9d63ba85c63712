package main

import (
	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/lsp"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/screen"
)

func newLSP() *cobra.Command {
	cmd := &cobra.Command{Use: "lsp", Args: cobra.NoArgs,
		Short: "Serve an editor: what check says as you type, and more (Language Server Protocol)"}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := lsp.Serve(cmd.Context(), cmd.InOrStdin(), screen.Behind(cmd.OutOrStdout()), release.Current().Version); err != nil {
			return exitError{Code: exitFindings, Text: "hookc: " + err.Error()}
		}
		return nil
	}
	cmd.Flags().Bool("stdio", true, "over stdin and stdout, as it always is: some editors say it")
	return cmd
}

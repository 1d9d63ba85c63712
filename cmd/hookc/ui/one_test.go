package ui

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/internal/decisionlog"
)

// TestExplained: a decision is explained by the rules alone, and the page says whether
// the policy is still the one that decided.
func TestExplained(t *testing.T) {
	var fails error
	s := &server{ctx: t.Context(), root: func() *cobra.Command {
		root := &cobra.Command{Use: "hookc", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(&cobra.Command{Use: "explain", DisableFlagParsing: true, RunE: func(cmd *cobra.Command, args []string) error {
			assert.Contains(t, args, "--rules")
			if fails == nil && slices.Contains(args, "--json") {
				fmt.Fprint(cmd.OutOrStdout(), `{"policy":"sha256:1"}`)
			} else if fails == nil {
				fmt.Fprint(cmd.OutOrStdout(), "DENY")
			}
			return fails
		}})
		return root
	}}
	for was, want := range map[string]string{"sha256:1": "is the one that decided", "sha256:2": "has changed since: this was decided by sha256:2, and the one that is here today is sha256:1", "": "does not say"} {
		text, revision := s.explained(&decisionlog.Entry{Path: "stop", Result: map[string]any{"policy": was}})
		assert.Equal(t, "DENY", text)
		assert.Contains(t, revision, want)
	}
	fails = errors.New("no policy is found")
	text, revision := s.explained(&decisionlog.Entry{Path: "stop"})
	assert.Empty(t, text)
	assert.Contains(t, revision, "no policy is found")
}

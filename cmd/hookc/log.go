package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/cmd/hookc/approvals"
	"github.com/hookc/hookc/cmd/hookc/logs"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/policy/agent"
)

func newImpact() *cobra.Command {
	var s sources
	return logHost().Impact(func(cmd *cobra.Command) func() (*dag.Program, error) {
		s.Flags(cmd)
		decide.Complete(cmd, "profile", agent.Profiles())
		return func() (*dag.Program, error) {
			if len(s.Files) == 0 {
				return nil, nil
			}
			return s.program(cmd)
		}
	})
}

//go:noinline
func logHost() *logs.Host {
	return &logs.Host{Complete: decide.Complete, Progress: progress, Colour: colour, Exact: exact,
		Path: func(ctx context.Context, path string) string { return decide.CallerOf(ctx).Path(path) }}
}

func newApprovals() *cobra.Command { return (&approvals.Host{}).New() }

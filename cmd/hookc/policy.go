package main

import (
	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/sites"
)

// sources are the flags of every command that needs a policy, with --format.
type sources struct{ decide.Sources }

func (s *sources) flags(cmd *cobra.Command) {
	s.Sources.Flags(cmd)
	s.formats(cmd)
	decide.CompleteSources(cmd)
}

var shownFrom = paths.ShownFrom

// openAgent finds the settings of an agent from the folder hookc was started in.
func openAgent(name string) (*sites.Agent, error) {
	dir, err := decide.WorkDir()
	if err != nil {
		return nil, err
	}
	return sites.Open(name, dir)
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/sites"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/install"
)

func newUninstall() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:               "uninstall AGENT",
		Short:             "Take hookc out of an agent's settings",
		Args:              oneAgent,
		ValidArgsFunction: agentArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.uninstall(cmd, args[0]) },
	}
	f.flags(cmd)
	return cmd
}

func (f *installFlags) uninstall(cmd *cobra.Command, name string) error {
	a, err := openAgent(name)
	if err != nil {
		return err
	}
	if f.scope != "" {
		if _, err := f.scopeOf(a); err != nil {
			return err
		}
	}
	reports := []*installed{}
	for i := range a.Place.Files {
		file := &a.Place.Files[i]
		if file.Install == agent.Looks || f.scope != "" && file.Scope() != agent.Scope(f.scope) {
			continue
		}
		r, err := takeOut(a, a.Site(file), f.dry)
		if err != nil {
			return err
		}
		if r != nil {
			reports = append(reports, r)
		}
	}
	if f.asJSON {
		return writeJSON(cmd.OutOrStdout(), reports)
	}
	for _, r := range reports {
		if err := r.write(cmd.OutOrStdout(), false, ""); err != nil {
			return err
		}
	}
	if len(reports) == 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "hookc is not in the settings of %s\n", a.Dialect.ID)
	}
	return nil
}

// takeOut removes hookc from one file; nil when it is not there.
func takeOut(a *sites.Agent, s *sites.Site, dry bool) (*installed, error) {
	found, _, err := s.Read()
	if err != nil {
		return nil, s.Failed(err)
	}
	if !lists.Some(found, func(f *install.Found) bool { return f.Own }) {
		return nil, nil
	}
	done, err := s.Edit(nil, dry)
	if err != nil {
		return nil, err
	}
	return reportOf(a, s, done, nil, dry), nil
}

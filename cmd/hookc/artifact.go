package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/gate/build"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/policy/diag"
)

// fromSources refuses a compiled policy for a command that needs what it was
// compiled from.
func (s *sources) fromSources(cmd *cobra.Command, args []string) error {
	path, err := s.CompiledPolicy(decide.CallerOf(cmd.Context()), args)
	if err == nil && path != "" {
		err = cannot("%s is a compiled policy: %s reads the sources", path, cmd.Name())
	}
	return err
}

// artifact compiles into a file that run, serve and hookgate take for a policy.
func (c *compileFlags) artifact(cmd *cobra.Command, s *sources, args []string) error {
	switch {
	case c.event != "":
		return cannot("%s holds every event: leave --event out", c.output)
	case len(s.Without) > 0:
		return cannot("%s is compiled by every pass: leave --without out", c.output)
	}
	if err := s.fromSources(cmd, args); err != nil {
		return err
	}
	dir, err := decide.WorkDir()
	if err != nil {
		return err
	}
	options, done, err := s.Options(cmd, args, dir)
	if err != nil {
		return err
	}
	defer done()
	x, found, suppressed, err := c.write(cmd, options)
	if err != nil {
		return cannot("%v", err)
	}
	return c.wrote(cmd, x, found, suppressed)
}

// write compiles and writes; a policy with errors is not written.
func (c *compileFlags) write(cmd *cobra.Command, options []hookc.Option) (*hookc.Compiled, diag.List, []report.Suppressed, error) {
	stop := progress(cmd.ErrOrStderr(), "compiling")
	defer stop()
	x, found, err := hookc.NewArtifact(options...)
	if err == nil {
		err = cmd.Context().Err()
	}
	var suppressed []report.Suppressed
	if x != nil {
		found, suppressed = report.Suppress(found, policyTexts(x.Program()))
	}
	if found.HasErrors() {
		x = nil // also with what the policy alone calls an error
	}
	if err == nil && x != nil {
		sections := build.Sections(x.Program())
		for _, s := range sections[1:] {
			x.AddSection(s.Name, s.Data)
		}
		err = x.WriteFile(c.output, sections[0].Data)
	}
	return x, found, suppressed, err
}

// wrote reports what was compiled into the file.
func (c *compileFlags) wrote(cmd *cobra.Command, x *hookc.Compiled, found diag.List, suppressed []report.Suppressed) error {
	if c.asJSON {
		if err := writeFindings(cmd.OutOrStdout(), found, suppressed); err != nil || x == nil {
			return err
		}
	} else {
		fmt.Fprint(cmd.ErrOrStderr(), found.Render())
	}
	if x == nil {
		return exitError{Code: exitFindings, Text: summary(found)}
	}
	if !c.asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", c.output, compiled(x.Program()))
	}
	if c.requireClosed {
		return closed(x.Program())
	}
	return nil
}

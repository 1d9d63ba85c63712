package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/gate/build"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// compiledRefused is that a compiled policy cannot be used here; it ends the
// program as the error in it does.
type compiledRefused struct{ error }

func (e compiledRefused) Unwrap() error { return e.error }

// compiledPolicy is the compiled policy among the policies that are named, "" for
// none. It stands alone.
func (s *sources) compiledPolicy(from *caller, args []string) (string, error) {
	all := slices.Concat(s.files, args)
	for _, path := range all {
		in, err := source.ParseInput(path)
		if err != nil || !isCompiled(from.path(in.Path)) {
			continue // what is wrong with it is said where it is read
		}
		switch {
		case in.Path != path:
			return "", cannot("%s is a compiled policy: the tiers of its hooks are in it", in.Path)
		case len(all) > 1:
			return "", cannot("%s is a compiled policy: it goes with no other", path)
		case s.format != "":
			return "", cannot("%s is a compiled policy: it goes without --format", path)
		}
		return path, nil
	}
	return "", nil
}

// isCompiled reports whether a file is a compiled policy, by its name or by what
// it begins with.
func isCompiled(path string) bool {
	if artifact.Named(path) {
		return true
	}
	switch filepath.Ext(path) {
	case ".yaml", ".yml", ".json", ".md", ".toml":
		return false
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var begin [16]byte
	n, _ := io.ReadFull(f, begin[:])
	return artifact.Is(begin[:n])
}

// takeProfile takes the profile that a compiled policy was compiled under, where
// none is named: the event is in that agent's words.
func (s *sources) takeProfile(from *caller) error {
	path, err := s.compiledPolicy(from, nil)
	if err != nil || path == "" || s.profile != "" {
		return err
	}
	f, err := artifact.Open(from.path(path))
	if err != nil {
		return cannot("%v", err)
	}
	defer f.Close()
	conditions, err := f.Conditions()
	if err != nil {
		return cannot("%v", err)
	}
	s.profile, s.faithful = conditions.Flag("profile"), conditions.Flag("faithful") != ""
	return nil
}

// fromSources refuses a compiled policy for a command that needs what it was
// compiled from.
func (s *sources) fromSources(cmd *cobra.Command, args []string) error {
	path, err := s.compiledPolicy(callerOf(cmd.Context()), args)
	if err == nil && path != "" {
		err = cannot("%s is a compiled policy: %s reads the sources", path, cmd.Name())
	}
	return err
}

// dependsOn lists the files that a compiled policy depends on, nil where it cannot
// be read: then it is no plan.
func dependsOn(path string) []string {
	f, err := artifact.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := f.Sources()
	if err != nil {
		return nil
	}
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Path
	}
	return out
}

// artifact compiles into a file that run, serve and hookgate take for a policy.
func (c *compileFlags) artifact(cmd *cobra.Command, s *sources, args []string) error {
	switch {
	case c.event != "":
		return cannot("%s holds every event: leave --event out", c.output)
	case len(s.without) > 0:
		return cannot("%s is compiled by every pass: leave --without out", c.output)
	}
	if err := s.fromSources(cmd, args); err != nil {
		return err
	}
	dir, err := workDir()
	if err != nil {
		return err
	}
	options, done, err := s.options(cmd, args, dir)
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
		return exitError{exitFindings, summary(found)}
	}
	if !c.asJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", c.output, compiled(x.Program()))
	}
	if c.requireClosed {
		return closed(x.Program())
	}
	return nil
}

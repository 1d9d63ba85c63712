package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/fix"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/install"
	"github.com/hookc/hookc/policy/source/print"
	"github.com/hookc/hookc/rego"
)

func newFmt() *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt [PATH…]",
		Short: "Lay out hooks.yaml, HOOK.md and Rego files",
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "write the result to the files")
	cmd.Flags().BoolVarP(&f.diff, "diff", "d", false, "show what would change")
	cmd.Flags().BoolVar(&f.check, "check", false, "list the files that would change")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "what became of each file as JSON")
	cmd.MarkFlagsMutuallyExclusive("write", "diff", "check")
	return cmd
}

// fmtFlags are the command line of fmt.
type fmtFlags struct{ write, diff, check, asJSON bool }

// laid is a file and what became of it.
type laid struct {
	Path    string `json:"path"`
	Changed bool   `json:"changed"`
	Error   string `json:"error,omitempty"`
}

func (f *fmtFlags) run(cmd *cobra.Command, args []string) error {
	files, err := f.files(cmd, args)
	if err != nil {
		return err
	}
	out := exact(cmd.OutOrStdout())
	all := []laid{}
	changed, failed := 0, []string{}
	for _, file := range files {
		if cmd.Context().Err() != nil {
			return exitError{Code: exitInterrupted, Text: ""}
		}
		l := laid{Path: file}
		if l.Changed, err = f.one(cmd, file, out); err != nil {
			l.Error = strings.TrimRight(strings.TrimPrefix(err.Error(), "hookc: "), "\n")
			failed = append(failed, l.Error)
		}
		if l.Changed {
			changed++
		}
		all = append(all, l)
	}
	if f.asJSON {
		if err := writeJSON(out, map[string]any{"files": all}); err != nil {
			return err
		}
	}
	switch {
	case len(failed) > 0:
		return exitError{Code: exitCannot, Text: strings.Join(failed, "\n") + "\nhookc: " + count(len(failed), "file") + " left as it was"}
	case changed > 0 && (f.check || f.diff):
		return exitError{Code: exitFindings, Text: ""}
	}
	return nil
}

// one lays a file out, and says whether that changes it.
func (f *fmtFlags) one(cmd *cobra.Command, file string, out io.Writer) (bool, error) {
	before, err := f.read(cmd, file)
	if err != nil {
		return false, err
	}
	var after []byte
	if filepath.Ext(file) == ".rego" {
		after, err = rego.Format(file, before, "")
	} else {
		after, err = print.Tidy(file, before)
	}
	if err != nil {
		return false, err
	}
	changed := !bytes.Equal(before, after)
	var text string
	switch {
	case f.write && changed:
		err = fix.Write(file, after)
	case f.write || f.asJSON:
	case f.diff && changed:
		text = install.Diff(spell.Line(file), before, after)
	case f.check && changed:
		text = spell.Line(file) + "\n"
	case !f.diff && !f.check:
		text = string(after)
	}
	if _, failed := io.WriteString(out, text); failed != nil {
		err = errors.Join(err, failed)
	}
	return changed, err
}

func (f *fmtFlags) read(cmd *cobra.Command, file string) ([]byte, error) {
	if file != "-" {
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fault.Errorf("%s is not a regular file", file)
		case info.Size() > decide.MaxInput:
			return nil, fault.Errorf("%s is larger than %d MiB", file, decide.MaxInput>>20)
		}
		return os.ReadFile(file)
	}
	data, err := readWhole(cmd.Context(), cmd.InOrStdin())
	if err == nil && len(data) > decide.MaxInput {
		err = fault.Errorf("stdin is larger than %d MiB", decide.MaxInput>>20)
	}
	return data, err
}

// files are what is laid out, each once, in the order of the arguments.
func (f *fmtFlags) files(cmd *cobra.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return projectFiles()
	}
	var out []string
	for _, path := range args {
		if path == "-" {
			if f.write {
				return nil, cannot("-w does not go with stdin")
			}
			out = append(out, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, cannot("%v", err)
		}
		if !info.IsDir() {
			if !print.Named(path) && filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".yml" {
				return nil, cannot("%s is no YAML, HOOK.md or Rego: fmt lays out those", path)
			}
			out = append(out, path)
			continue
		}
		if out, err = print.Files(out, path); err != nil {
			return nil, cannot("%v", err)
		}
	}
	return lists.Add(nil, out), nil
}

// projectFiles are those of the policy discovered for the project: what is the
// user's own or managed is nobody's to rewrite from here.
func projectFiles() ([]string, error) {
	dir, err := decide.WorkDir()
	if err != nil {
		return nil, err
	}
	p, found := hookc.Load(hookc.Discover(dir), hookc.ShownFrom(dir), hookc.AsFound())
	var out []string
	for _, s := range p.Sources {
		if s.Tier != policy.TierProject && s.Tier != policy.TierLocal || !lists.Has([]string{"hooksyaml", "hookmd", "jcli"}, s.Format) {
			continue
		}
		out = append(out, shownFrom(dir, s.Path))
		for _, use := range s.Uses {
			info, err := os.Stat(use)
			switch {
			case err != nil: // the finding on it is compile's
			case info.IsDir() && s.Format != "hookmd":
				if out, err = print.Files(out, shownFrom(dir, use)); err != nil {
					return nil, cannot("%v", err)
				}
			case filepath.Ext(use) == ".rego":
				out = append(out, shownFrom(dir, use))
			}
		}
	}
	switch {
	case len(out) == 0 && !found.HasErrors():
		return nil, (&sources{}).nothing()
	case len(out) == 0:
		return nil, cannot("%sno policy of this project can be read: name files, hookc fmt PATH", found.Render())
	}
	return lists.Add(nil, out), nil
}

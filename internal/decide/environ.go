package decide

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeIgnoredVariable = diag.Define("HK190", diag.Warning, "a variable that may not choose what decides").Guarding()

// runByVariable are the flags of run that a variable sets: none of them changes
// what is decided.
var runByVariable = []string{"json", "debug"}

// variable is the name of the variable that sets a flag of a command.
func variable(cmd *cobra.Command, f *pflag.Flag) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(cmd.CommandPath() + "_" + f.Name))
}

// byVariable reports whether a variable may set a flag of a command.
func byVariable(cmd *cobra.Command, f *pflag.Flag) bool {
	if cmd.CommandPath() != "hookc run" {
		return true
	}
	// --json excludes --dialect, which a variable must not make an error of.
	return lists.Has(runByVariable, f.Name) && !(f.Name == "json" && cmd.Flags().Changed("dialect"))
}

// ignoredVariables names the variables that would set a flag and may not.
func ignoredVariables(cmd *cobra.Command) []string {
	var out []string
	from := CallerOf(cmd.Context())
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(cmd, f)
		value := from.Getenv(name)
		_, wrong := strconv.ParseBool(value)
		switch {
		case value == "":
		case !byVariable(cmd, f):
			out = append(out, name+" is ignored: it may not choose what decides; write --"+f.Name+" into the command")
		case wrong != nil: // the flags that a variable sets are switches
			out = append(out, name+" is ignored: it is true or false")
		}
	})
	return out
}

// note adds a variable that is ignored.
func (s *Sources) note(text string) {
	if !lists.Has(s.ignored, text) {
		s.ignored = append(s.ignored, text)
	}
}

// Warnings are what an answer says about the environment.
//
//go:noinline
func (s *Sources) Warnings() []policy.Warning {
	var out []policy.Warning
	for _, text := range s.ignored {
		out = append(out, policy.Warning{Code: codeIgnoredVariable, Text: text})
	}
	return out
}

// openDebug opens the file of HOOKC_DEBUG. A pipe would hold the event up. What an event
// says is written there, and who wrote the project may have set the variable: a shell that
// reads such a line runs it, so it goes into no file that is something else, or is hidden.
func openDebug(path string) (*os.File, error) {
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode()&os.ModeCharDevice != 0:
		return os.OpenFile(path, flags, 0o600)
	case err == nil && !info.Mode().IsRegular():
		return nil, errors.New(path + " is not a regular file")
	}
	real := path // links of the project lead anywhere
	if dir, err := filepath.EvalSymlinks(path); err == nil {
		real = dir
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		real = filepath.Join(dir, filepath.Base(path))
		flags |= os.O_EXCL // nor a link to nothing
	}
	hidden := func(name string) bool { return strings.HasPrefix(name, ".") && strings.Trim(name, ".") != "" }
	if ext := filepath.Ext(real); ext != ".log" && ext != ".jsonl" || hidden(filepath.Base(real)) {
		if slices.ContainsFunc(strings.Split(filepath.ToSlash(real), "/"), hidden) {
			return nil, errors.New(path + " is or lies in something hidden: name it .log or .jsonl")
		}
		if text, err := os.ReadFile(real); err == nil && len(text) > 0 && text[0] != '{' {
			return nil, errors.New(path + " is another file: name one that is not there, or .log or .jsonl")
		}
	}
	return os.OpenFile(path, flags, 0o600)
}

// noModel answers no hook: the variables that choose a model are wrong.
func noModel(wrong error) policy.Model {
	return func(context.Context, policy.ModelRequest) (string, error) {
		return "", fault.Errorf("no model: %w", wrong)
	}
}

// bindEnv sets each flag that was not given from HOOKC_<COMMAND>_<FLAG>; an
// empty variable is none.
func bindEnv(cmd *cobra.Command) error {
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(cmd, f)
		value := CallerOf(cmd.Context()).Getenv(name)
		if value == "" || f.Changed || !byVariable(cmd, f) {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil && cmd.CommandPath() != "hookc run" { // run says so in its answer
			errs = append(errs, fault.Errorf("%s: %w", name, err))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return exit.Cannot("%v", err)
	}
	return nil
}

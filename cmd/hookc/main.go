// Command hookc compiles, runs and explains the hooks of AI agents.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/policy/diag"
)

// The exit codes, everywhere (docs/cli.md). Only run gives 2 and 4, because
// every agent reads 2 as deny.
const (
	exitClean       = 0
	exitFindings    = 1
	exitBlocked     = 2
	exitCannot      = 3
	exitAsk         = 4
	exitInterrupted = 130
)

// exitError ends the program with a code; text, if any, goes to stderr first.
type exitError struct {
	code int
	text string
}

func (e exitError) Error() string { return e.text }

// cannot is an operation that could not be carried out.
//
//go:noinline
func cannot(format string, args ...any) error {
	return exitError{exitCannot, "hookc: " + fmt.Sprintf(format, args...)}
}

func main() {
	// Garbage is collected at 16 MB first, not 4: most commands are over before.
	if os.Getenv("GOGC") == "" && !slices.Contains(os.Args, "serve") {
		runtime.AddCleanup(new(*int), func(usual int) {
			if now := debug.SetGCPercent(usual); now != 400 { // a command's own
				debug.SetGCPercent(now)
			}
		}, debug.SetGCPercent(400))
	}
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit code. A panic is a
// failure of hookc itself: it is reported and never looks like an answer.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	if name, ok := spoken(args); ok {
		if !slices.Contains(args, framed) {
			said := newScreen(stderr)
			defer said.Flush()
			stderr = said
		}
		return speak(name, args, stdin, stdout, stderr)
	}
	if len(args) == 0 || args[0] != "supervise" { // which speaks to hookc serve, in frames
		shown, said := newScreen(stdout), newScreen(stderr)
		defer shown.Flush()
		defer said.Flush()
		stdout, stderr = shown, said
	}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "hookc: internal error: %v\n%s", p, debug.Stack())
			code = exitCannot
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	root := rootFor(args)
	root.SetArgs(longRun(args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &exit):
		if exit.text != "" {
			fmt.Fprintln(stderr, strings.TrimRight(exit.text, "\n"))
		}
		return exit.code
	case ctx.Err() != nil:
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "hookc: %v\n", err)
	return exitCannot
}

// commands makes each command by its name.
func commands() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"compile": newCompile, "check": newCheck, "run": newRun, "explain": newExplain, "test": newTest, "hooks": newHooks, "list": newList,
		"init": newInit, "convert": newConvert, "trust": newTrust, "install": newInstall, "uninstall": newUninstall, "doctor": newDoctor,
		"schema": newSchema, "version": newVersion, "supervise": newSupervise, "serve": newServe, "bench": newBench, "diff": newDiff,
		"replay": newReplay, "log": newLog, "prove": newProve, "lint": newLint, "lsp": newLSP, "fmt": newFmt,
	}
}

// rootFor is what carries out a command line. Agents start a process for each
// event, so a line that begins with a command makes no other.
func rootFor(args []string) *cobra.Command {
	if len(args) > 0 {
		if command := commands()[args[0]]; command != nil {
			root := bareRoot()
			root.CompletionOptions.DisableDefaultCmd = true
			add(root, command())
			return root
		}
	}
	return newRoot()
}

// newRoot has every command.
func newRoot() *cobra.Command {
	root := bareRoot()
	for _, command := range commands() {
		add(root, command())
	}
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" { // cobra's own
			cmd.Example = "  source <(hookc completion bash)              # this shell\n" +
				"  hookc completion zsh > \"${fpath[1]}/_hookc\"   # every shell from now on"
			group(cmd)
		}
	}
	root.Version = release.Current().Line()
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

func add(root, cmd *cobra.Command) {
	root.AddCommand(cmd)
	if cmd.HasSubCommands() {
		group(cmd)
	}
}

func bareRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "hookc",
		Short: "Compile the hooks of AI agents into one DAG per event, and run it",
		Long: `hookc reads hooks (hooks.yaml, HOOK.md folders), compiles them into one
execution DAG per lifecycle event that means exactly what the serial list
means, and decides events with it: Rego and expr rules in process, next to
bash and LLM hooks.

Exit codes: 0 clean or proceed · 1 findings or failures · 2 blocked (run only)
3 could not run · 4 ask or defer (run only) · 130 interrupted.

Every flag can be set as HOOKC_<COMMAND>_<FLAG>, for example
HOOKC_COMPILE_EXPLAIN=json or HOOKC_HOOKS_STATUS_JSON=true; of run only --json
and --debug, since the environment does not choose what decides.`,
		Example: `  hookc init                                  # a first policy
  hookc compile --explain                     # look at the chains
  hookc run -f hooks.yaml < event.json        # decide one event
  hookc explain -f hooks.yaml --input event.json`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return bindEnv(cmd)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cannot("%v\nSee '%s --help'.", err, cmd.CommandPath())
	})
	root.SetHelpCommand(newHelp(root))
	return root
}

// group makes a command that has commands of its own refuse words that are
// none of them. Alone it shows its help, unless it does something itself.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range cmd.Commands() {
			names = append(names, c.Name())
		}
		return cannot("unknown command %q for %q: %s", args[0], cmd.CommandPath(),
			diag.DidYouMean(args[0], names, "there are "+strings.Join(names, ", ")))
	}
	if !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

// bindEnv sets each flag that was not given from HOOKC_<COMMAND>_<FLAG>; an
// empty variable is none.
func bindEnv(cmd *cobra.Command) error {
	var errs []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(cmd, f)
		value := callerOf(cmd.Context()).getenv(name)
		if value == "" || f.Changed || !byVariable(cmd, f) {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil && cmd.CommandPath() != "hookc run" { // run says so in its answer
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return cannot("%v", err)
	}
	return nil
}

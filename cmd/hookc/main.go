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
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/cmd/hookc/bundles"
	"github.com/hookc/hookc/cmd/hookc/ui"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/serve"
	"github.com/hookc/hookc/policy/diag"
)

func main() {
	// Garbage is collected at 16 MB first, not 4: most commands are over before.
	if os.Getenv("GOGC") == "" && !lists.Has(os.Args, "serve") {
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
	if name, ok := decide.DialectOf(args); ok {
		if !lists.Has(args, decide.Framed) {
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
		if exit.Text != "" {
			fmt.Fprintln(stderr, strings.TrimRight(exit.Text, "\n"))
		}
		return exit.Code
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
		"schema": newSchema, "version": newVersion, "supervise": newSupervise, "serve": func() *cobra.Command { return serve.New(serve.Options{}) }, "bench": newBench, "diff": newDiff,
		"replay": newReplay, "log": logHost().New, "approvals": newApprovals, "impact": newImpact, "prove": newProve, "lint": newLint, "lsp": newLSP, "fmt": newFmt, "ui": func() *cobra.Command { return ui.New(logHost(), newRoot) },
		"bundle": (&bundles.Host{Complete: decide.Complete}).New,
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
	root := decide.PlainRoot()
	root.Short = "Compile the hooks of AI agents into one DAG per event, and run it"
	described(root)
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
		names := lists.Each(cmd.Commands(), (*cobra.Command).Name)
		return cannot("unknown command %q for %q: %s", args[0], cmd.CommandPath(),
			diag.DidYouMean(args[0], names, "there are "+strings.Join(names, ", ")))
	}
	if !cmd.Runnable() {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

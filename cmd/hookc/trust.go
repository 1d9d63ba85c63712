package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/trust"
)

func newTrust() *cobra.Command {
	var forget, check, asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let a project's own hooks run",
		Long: `A project's hooks (hooks.yaml, .hookc/, .agents/hooks/) run only after you trust
them. trust records the content of every file they name: policy files,
includes, scripts, Rego and data. A file that changes later must be trusted
again; until then its hooks are listed, not run, and every answer says so.
trust shows what it would cover and asks; without a terminal it needs --yes.
Commands whose files could not be determined are listed, because what they run
is not covered.`,
		Example: `  hookc trust             # this project
  hookc trust --yes       # without a question, for scripts
  hookc trust --check     # exit 1 when it is not trusted
  hookc trust --forget`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := workDir()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				dir = args[0]
			}
			return trustCommand(cmd, dir, forget, check, asJSON, yes)
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "withdraw trust")
	cmd.Flags().BoolVar(&check, "check", false, "only say whether it is trusted")
	cmd.Flags().BoolVar(&yes, "yes", false, "consent without being asked")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.MarkFlagsMutuallyExclusive("forget", "check", "yes")
	return cmd
}

// trustJSON is what `trust --json` prints.
type trustJSON struct {
	Root    string   `json:"root"`
	Trusted bool     `json:"trusted"`
	Why     string   `json:"why,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Files   []string `json:"files,omitempty"`
	Opaque  []string `json:"opaque_commands,omitempty"`
}

func trustCommand(cmd *cobra.Command, dir string, forget, check, asJSON, yes bool) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return cannot("%s is no folder", dir)
	}
	root := policy.ProjectRoot(dir)
	store := trust.Open(root)
	out := trustJSON{Root: root}
	if forget {
		had, err := store.Forget()
		if err != nil {
			return cannot("%v", err)
		}
		if out.Why = "it was not trusted"; had {
			out.Why = "trust withdrawn"
		}
		return out.write(cmd, asJSON)
	}
	var files []policy.SourceFile
	p, _ := hookc.Load(hookc.Discover(dir))
	for _, s := range p.Sources {
		if trust.Needed(s.Tier) {
			files = append(files, s)
		}
	}
	if len(files) == 0 {
		out.Trusted, out.Why = true, "this project has no hooks of its own"
		return out.write(cmd, asJSON)
	}
	if check {
		verdict := store.Check(files)
		out.Trusted, out.Why, out.Changed = verdict.Trusted, verdict.Why, verdict.Changed
		if err := out.write(cmd, asJSON); err != nil {
			return err
		}
		if !verdict.Trusted {
			return exitError{exitFindings, ""}
		}
		return nil
	}
	offer, err := store.Offer(files)
	if err != nil {
		return cannot("%v", err)
	}
	out.Files, out.Opaque = offer.Files, offer.Opaque
	if !yes {
		if err := out.ask(cmd); err != nil {
			return err
		}
	}
	if err := offer.Accept(); err != nil {
		return cannot("%v", err)
	}
	out.Trusted = true
	return out.write(cmd, asJSON)
}

// ask shows what consent would cover and waits for a yes on the terminal.
func (t trustJSON) ask(cmd *cobra.Command) error {
	w := cmd.ErrOrStderr()
	in, ok := cmd.InOrStdin().(*os.File)
	asks := ok && terminal(in)
	fmt.Fprintf(w, "%s: to be trusted\n", oneLine(t.Root))
	t.list(w)
	if !asks {
		return cannot("nothing is recorded: without a terminal, hookc trust needs --yes")
	}
	fmt.Fprint(w, "Let these run? [y/N] ")
	answer, err := bufio.NewReader(in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return exitError{exitFindings, "hookc: nothing is recorded"}
	}
	return nil
}

func (t trustJSON) write(cmd *cobra.Command, asJSON bool) error {
	w := cmd.OutOrStdout()
	if asJSON {
		return writeJSON(w, t)
	}
	word := "not trusted"
	if t.Trusted {
		word = "trusted"
	}
	fmt.Fprintf(w, "%s: %s\n", oneLine(t.Root), word)
	if t.Why != "" {
		fmt.Fprintf(w, "  %s\n", oneLine(t.Why))
	}
	t.list(w)
	return nil
}

func (t trustJSON) list(w io.Writer) {
	for _, f := range t.Changed {
		fmt.Fprintf(w, "  changed: %s\n", oneLine(f))
	}
	for _, f := range t.Files {
		fmt.Fprintf(w, "  covers: %s\n", oneLine(f))
	}
	for _, c := range t.Opaque {
		fmt.Fprintf(w, "  not covered, runs what cannot be determined: %s\n", oneLine(c))
	}
}

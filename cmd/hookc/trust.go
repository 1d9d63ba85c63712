package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/trust"
)

func newTrust() *cobra.Command {
	var forget, check, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let a project's own hooks run",
		Long: `A project's hooks (hooks.yaml, .hookc/, .agents/hooks/) run only after you trust
them. trust records the content of every file they name: policy files,
includes, scripts, Rego and data. A file that changes later must be trusted
again; until then its hooks are listed, not run, and every answer says so.
Commands whose files could not be determined are listed, because what they run
is not covered.`,
		Example: `  hookc trust             # this project
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
			return trustCommand(cmd, dir, forget, check, asJSON)
		},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "withdraw trust")
	cmd.Flags().BoolVar(&check, "check", false, "only say whether it is trusted")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.MarkFlagsMutuallyExclusive("forget", "check")
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

func trustCommand(cmd *cobra.Command, dir string, forget, check, asJSON bool) error {
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
	consent, err := store.Trust(files)
	if err != nil {
		return cannot("%v", err)
	}
	out.Trusted, out.Files, out.Opaque = true, consent.Files, consent.Opaque
	return out.write(cmd, asJSON)
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
	fmt.Fprintf(w, "%s: %s\n", t.Root, word)
	if t.Why != "" {
		fmt.Fprintf(w, "  %s\n", t.Why)
	}
	for _, f := range t.Changed {
		fmt.Fprintf(w, "  changed: %s\n", f)
	}
	for _, f := range t.Files {
		fmt.Fprintf(w, "  covers: %s\n", f)
	}
	for _, c := range t.Opaque {
		fmt.Fprintf(w, "  not covered, runs what cannot be determined: %s\n", c)
	}
	return nil
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/trust"
)

func newTrust() *cobra.Command {
	var forget, check, asJSON, yes bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let a project's own hooks run",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := decide.WorkDir()
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
	Formats []string `json:"formats,omitempty"`
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
	parts, _ := source.Parts(root, everyProfile())
	if check {
		st := store.Check(parts)
		out.Trusted, out.Why, out.Changed = st.Holds(), st.Why, st.Changed
		if st.Kind == trust.None {
			out.Why = "this project has no hooks of its own"
		}
		if err := out.write(cmd, asJSON); err != nil {
			return err
		}
		if !out.Trusted {
			return exitError{Code: exitFindings, Text: ""}
		}
		return nil
	}
	if len(parts) == 0 {
		out.Trusted, out.Why = true, "this project has no hooks of its own"
		return out.write(cmd, asJSON)
	}
	offer, err := store.Offer(parts)
	if err != nil {
		return cannot("%v", err)
	}
	out.Files, out.Opaque = offer.Files, offer.Opaque
	for _, p := range parts {
		out.Formats = append(out.Formats, formatsOf(root, p)...)
	}
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
	fmt.Fprintf(w, "%s: to be trusted\n", spell.Line(t.Root))
	t.list(w)
	if !asks {
		return cannot("nothing is recorded: without a terminal, hookc trust needs --yes")
	}
	fmt.Fprint(w, "Let these run? [y/N] ")
	answer, err := bufio.NewReader(in).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return exitError{Code: exitFindings, Text: "hookc: nothing is recorded"}
	}
	return nil
}

// everyProfile are the ways to look for the policies of a project: hookc's own,
// and that of every agent whose configuration hookc reads.
func everyProfile() []source.DiscoverOptions {
	out := []source.DiscoverOptions{{}}
	for _, d := range agent.All() {
		if d.Profile != nil {
			out = append(out, source.DiscoverOptions{Profile: d})
		}
	}
	return out
}

// formatsOf are the places of a part, each with who reads it.
func formatsOf(root string, p trust.Part) []string {
	who := lists.First(p.Profile, "hookc")
	var out []string
	for _, in := range p.Inputs {
		out = append(out, who+": "+shownFrom(root, in.Path))
	}
	return out
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
	fmt.Fprintf(w, "%s: %s\n", spell.Line(t.Root), word)
	if t.Why != "" {
		fmt.Fprintf(w, "  %s\n", spell.Line(t.Why))
	}
	t.list(w)
	return nil
}

func (t trustJSON) list(w io.Writer) {
	for _, f := range t.Changed {
		fmt.Fprintf(w, "  changed: %s\n", spell.Line(f))
	}
	for _, f := range t.Formats {
		fmt.Fprintf(w, "  found by %s\n", spell.Line(f))
	}
	for _, f := range t.Files {
		fmt.Fprintf(w, "  covers: %s\n", spell.Line(f))
	}
	for _, c := range t.Opaque {
		fmt.Fprintf(w, "  not covered, runs what cannot be determined: %s\n", spell.Line(c))
	}
}

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/sites"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/install"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	scope            string
	dry, all, asJSON bool
	// gate writes hookgate instead of hookc run.
	gate bool
}

func newInstall() *cobra.Command {
	var s sources
	var f installFlags
	cmd := &cobra.Command{
		Use:               "install AGENT",
		Short:             "Put hookc in front of an agent's tools",
		Args:              oneAgent,
		ValidArgsFunction: agentArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.install(cmd, &s, args[0]) },
	}
	s.flags(cmd)
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.gate, "gate", false, "write hookgate, which lies beside hookc and asks a resident hookc serve")
	cmd.Flags().BoolVar(&f.all, "all", false, "every guarded event and every tool, whatever the policy needs")
	return cmd
}

func (f *installFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scope, "scope", "", "whose settings: `SCOPE` is "+spell.Or(agent.Scopes()))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show a diff and write nothing")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	decide.Complete(cmd, "scope", agent.Scopes())
}

// oneAgent wants the one argument that names an agent.
func oneAgent(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cannot("%s takes one agent: %s", cmd.CommandPath(), spell.Or(agent.Installable()))
	}
	return nil
}

// agentArgs completes the agents hookc can be installed for.
func agentArgs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return agent.Installable(), cobra.ShellCompDirectiveNoFileComp
}

// installed is what install and uninstall report of one file.
type installed struct {
	Agent   string           `json:"agent"`
	Scope   agent.Scope      `json:"scope"`
	File    string           `json:"file"`
	Changed bool             `json:"changed"`
	DryRun  bool             `json:"dry_run,omitempty"`
	Entries []installedEntry `json:"entries"`
	Notes   []string         `json:"notes,omitempty"`
	Diff    string           `json:"diff,omitempty"`
}

type installedEntry struct {
	install.Change
	Matcher string `json:"matcher,omitempty"`
	Timeout string `json:"timeout,omitempty"`
	Command string `json:"command,omitempty"`
}

func (f *installFlags) install(cmd *cobra.Command, s *sources, name string) error {
	a, err := openAgent(name)
	if err != nil {
		return err
	}
	scope, err := f.scopeOf(a)
	if err != nil {
		return err
	}
	s.Managed = true // the entries serve it too
	program, err := s.program(cmd)
	if err != nil {
		return err
	}
	wide, why := f.wide(scope, s, program)
	needs, notes := sites.Needs(a.Dialect, a.Place, program, wide)
	notes = append(why, notes...)
	if len(needs) == 0 {
		return cannot("the policy has no hook on any event of %s; --all covers every guarded one\n%s", a.Dialect.ID, strings.Join(notes, "\n"))
	}
	to, err := a.Chosen(scope)
	if err != nil {
		return err
	}
	want, err := entriesOf(a, s, needs, f.gate)
	if err != nil {
		return err
	}
	done, err := to.Edit(want, f.dry)
	if err != nil {
		return err
	}
	out := reportOf(a, to, done, want, f.dry)
	out.Notes = append(notes, warningsOf(a, to, program)...)
	return out.write(cmd.OutOrStdout(), f.asJSON, "next: hookc doctor "+a.Dialect.ID)
}

func (f *installFlags) scopeOf(a *sites.Agent) (agent.Scope, error) {
	can := a.Place.Scopes()
	switch {
	case f.scope == "" && lists.Has(can, string(agent.ProjectScope)):
		return agent.ProjectScope, nil
	case f.scope == "":
		return agent.UserScope, nil
	case !lists.Has(can, f.scope):
		return "", cannot("hookc knows no %s settings of %s: --scope takes %s", f.scope, a.Dialect.ID, spell.Or(can))
	}
	return agent.Scope(f.scope), nil
}

// wide is whether more is covered than the policy at hand needs, and why.
func (f *installFlags) wide(scope agent.Scope, s *sources, p *dag.Program) (bool, []string) {
	switch {
	case f.all:
		return true, nil
	case len(p.Hooks) == 0:
		return true, []string{"there is no policy yet: every guarded event is covered (write one with hookc init)"}
	case scope != agent.ProjectScope && len(s.Files) == 0:
		return true, []string{"every project is served, with policies that are not known here: every guarded event is covered; name a policy with -f for less"}
	}
	return false, nil
}

// entriesOf are what the agent's settings are to hold.
func entriesOf(a *sites.Agent, s *sources, needs []sites.Need, gate bool) ([]install.Entry, error) {
	program, err := thisProgram()
	if err == nil && gate {
		program, err = gateProgram(program)
	}
	if err != nil {
		return nil, err
	}
	var out []install.Entry
	for _, n := range needs {
		line, err := s.commandLine(program, n.Native, a.Dialect, n.Timeout(a.Place))
		if gate {
			line, err = s.gateLine(program, n.Native, a.Dialect, n.Timeout(a.Place))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, install.Entry{Event: n.Native, Matcher: n.Matcher(&a.Place.Matchers), Command: line, Timeout: n.Timeout(a.Place), Guard: n.Guard})
	}
	return out, nil
}

func reportOf(a *sites.Agent, s *sites.Site, done *sites.Done, want []install.Entry, dry bool) *installed {
	out := &installed{Agent: a.Dialect.ID, Scope: s.File.Scope(), File: s.Path, Changed: done.Changed, DryRun: dry, Entries: []installedEntry{}}
	if dry {
		out.Diff = done.Diff
	}
	for _, c := range done.Changes {
		e := installedEntry{Change: c}
		if i := lists.At(want, func(w *install.Entry) bool { return w.Event == c.Event }); i >= 0 {
			e.Matcher, e.Timeout, e.Command = want[i].Matcher, want[i].Timeout.Round(time.Second).String(), want[i].Command
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

// warningsOf are what else must be done, or known, for the entries to work.
func warningsOf(a *sites.Agent, s *sites.Site, p *dag.Program) []string {
	var out []string
	for _, src := range p.Sources {
		if src.Untrusted != "" {
			out = append(out, fmt.Sprintf("the hooks of %s do not run yet: %s", src.Name, src.Untrusted))
		}
	}
	if a.Place.Replaces {
		out = append(out, hiddenBy(a, s)...)
	}
	d := &doctor{Agent: a}
	d.switches(d.readSettings())
	for _, c := range d.checks {
		if c.Check == "switch" && c.Status == checkFail {
			out = append(out, c.Text+"; "+c.Hint)
		}
	}
	if a.Place.Trust != "" {
		out = append(out, a.Place.Trust)
	}
	return out
}

// hiddenBy says which hooks of less specific files the agent no longer runs.
func hiddenBy(a *sites.Agent, s *sites.Site) []string {
	mine, _, err := s.Read()
	if err != nil {
		return nil
	}
	var out []string
	for i := range a.Place.Files {
		other := a.Site(&a.Place.Files[i])
		if other.Path == s.Path {
			break
		}
		found, _, err := other.Read()
		if err != nil {
			continue
		}
		for _, f := range found {
			if lists.Some(mine, func(m *install.Found) bool { return m.Event == f.Event }) {
				out = append(out, fmt.Sprintf("%s runs the hooks on %s of %s alone: %s of %s does not run any more",
					a.Dialect.ID, f.Event, s.Target.Name, f.Command, other.Target.Name))
			}
		}
	}
	return out
}

// write prints the report; next is shown when something was written.
func (o *installed) write(out io.Writer, asJSON bool, next string) error {
	if asJSON {
		return writeJSON(out, o)
	}
	switch {
	case o.DryRun && o.Changed:
		fmt.Fprint(out, o.Diff)
	case !o.Changed:
		fmt.Fprintf(out, "%s: nothing to change\n", o.File)
	default:
		fmt.Fprintf(out, "%s (%s, %s)\n", o.File, o.Agent, o.Scope)
	}
	if !o.DryRun {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, e := range o.Entries {
			fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %s\t%s\t%s\t%s", e.What, e.Event, e.Timeout, e.Matcher), "\t "))
		}
		if err := w.Flush(); err != nil {
			return cannot("the report cannot be written: %v", err)
		}
	}
	for _, n := range o.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	if o.Changed && !o.DryRun && next != "" {
		fmt.Fprintln(out, next)
	}
	return nil
}

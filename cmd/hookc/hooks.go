package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
	"github.com/hookc/hookc/policy/state"
)

func newHooks() *cobra.Command {
	cmd := newHooksStatus()
	cmd.Use, cmd.Short = "hooks", "What is configured, where from, and how often it ran"
	cmd.AddCommand(newHooksStatus(), newHooksList())
	return cmd
}

// hooksStatus is what `hooks status` reports.
type hooksStatus struct {
	Enabled  bool                `json:"enabled"`
	Hooks    int                 `json:"hooks"`
	Events   []eventCount        `json:"events"`
	Sources  []sourceStatus      `json:"sources"`
	Counters []hookc.HookMetrics `json:"counters"`
	// Warnings are in every Decision: what of the sources does not run.
	Warnings []string `json:"warnings,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	State    string   `json:"state,omitempty"`
	// Work is hookcd's queue of durable hooks.
	Work *decide.Work `json:"work,omitempty"`
}

type eventCount struct {
	Event   policy.Event `json:"event"`
	Hooks   int          `json:"hooks"`
	Posture string       `json:"posture"`
}

type sourceStatus struct {
	File   string      `json:"file"`
	Tier   policy.Tier `json:"tier"`
	Format string      `json:"format"`
	// Untrusted says why the hooks of the file do not run.
	Untrusted string `json:"untrusted,omitempty"`
	// Opaque are the commands that consent does not cover.
	Opaque []string `json:"opaque,omitempty"`
}

func newHooksStatus() *cobra.Command {
	var s sources
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Enabled or not, hooks per event, sources, counters",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := s.program(cmd)
			if err != nil {
				return err
			}
			dir, err := decide.WorkDir()
			if err != nil {
				return err
			}
			kept := memory.Open(policy.ProjectRoot(dir))
			status := describe(program)
			status.Counters, status.State = kept.Counters(), kept.Path()
			status.Notes = append(append(status.Notes, decide.OpenDoubts().Lines()...), decide.FleetLines(cmd.Context())...)
			if home, err := state.Home(); err == nil {
				if status.Work, err = decide.ReadWork(home); err != nil {
					status.Notes = append(status.Notes, "what hookcd wrote of its queue cannot be read: "+err.Error())
				}
				status.Notes = append(status.Notes, status.Work.Lines()...)
			}
			status.Counters = lists.Without(status.Counters, func(m *hookc.HookMetrics) bool { return m.Hook == hookc.SelfHook })
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), status)
			}
			return status.print(tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0))
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// program compiles what is discovered or named for commands that only look.
func (s *sources) program(cmd *cobra.Command, more ...hookc.Option) (*dag.Program, error) {
	program, found, err := s.compileAny(cmd, nil, append(more, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Runtime = true }))...)
	switch {
	case err != nil:
		return nil, err
	case program == nil:
		return nil, exitError{Code: exitCannot, Text: found.Render() + "hookc: the policy does not compile"}
	}
	return program, nil
}

func describe(p *dag.Program) *hooksStatus {
	status := &hooksStatus{Notes: p.Notes, Enabled: false}
	for _, e := range p.Hooks {
		if !hookc.Own(e.Hook) { // what is configured; explain shows the rest
			status.Hooks++
		}
	}
	for _, plan := range p.Plans {
		live := 0
		for i := range plan.Nodes {
			if plan.Nodes[i].RecheckOf < 0 && !hookc.Own(plan.Nodes[i].Hook) {
				live++
			}
		}
		if live == 0 && lists.Some(plan.Nodes, func(n *dag.Node) bool { return hookc.Own(n.Hook) }) {
			continue
		}
		status.Enabled = status.Enabled || live > 0
		status.Events = append(status.Events, eventCount{plan.Event, live, plan.Posture()})
	}
	for _, src := range p.Sources {
		at := sourceStatus{spell.Line(src.Name), src.Tier, src.Format, src.Untrusted, nil}
		for _, c := range src.Opaque {
			if src.Tier >= policy.TierProject { // a user's own need no consent
				at.Opaque = append(at.Opaque, spell.Line(c))
			}
		}
		status.Sources = append(status.Sources, at)
	}
	for _, w := range p.Warnings {
		status.Warnings = append(status.Warnings, w.Code.ID+" "+spell.Line(w.Text))
	}
	return status
}

func (s *hooksStatus) print(w *tabwriter.Writer) error {
	state := "no hook runs"
	if s.Enabled {
		state = "enabled"
	}
	fmt.Fprintf(w, "%s: %s on %s\n", state, count(s.Hooks, "hook"), count(len(s.Events), "event"))
	for _, n := range s.Warnings {
		fmt.Fprintf(w, "warning: %s\n", n)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	for _, src := range s.Sources {
		for _, c := range src.Opaque {
			fmt.Fprintf(w, "not covered by trust, runs what cannot be determined: %s (%s)\n", c, src.File)
		}
	}
	if len(s.Sources) > 0 {
		fmt.Fprintf(w, "\nSOURCE\tTIER\tFORMAT\t\n")
	}
	for _, src := range s.Sources {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", src.File, src.Tier, src.Format, src.Untrusted)
	}
	if len(s.Events) > 0 {
		fmt.Fprintf(w, "\nEVENT\tHOOKS\tPOSTURE\n")
	}
	for _, e := range s.Events {
		fmt.Fprintf(w, "%s\t%d\t%s\n", e.Event, e.Hooks, e.Posture)
	}
	if len(s.Counters) > 0 {
		fmt.Fprintf(w, "\nHOOK\tEVENT\tRUNS\tOK\tFAILED\tFILTERED\tSQUASHED\tRETRIES\tLEFT\tTOTAL\tP50\tP95\n")
	}
	for _, c := range s.Counters {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", c.Hook, c.Event, c.Runs, c.OK, c.Failed, c.Filtered,
			c.Squashed, c.Retries, c.Left, round(c.Total), round(c.P50), round(c.P95))
	}
	if s.State != "" {
		fmt.Fprintf(w, "\nstate: %s\n", s.State)
	}
	return written("status", w.Flush())
}

// hookRow is one line of `hooks list`.
type hookRow struct {
	Event    policy.Event    `json:"event"`
	Name     string          `json:"name"`
	Kind     policy.Kind     `json:"kind"`
	Tier     policy.Tier     `json:"tier"`
	Priority int             `json:"priority"`
	Locked   bool            `json:"locked,omitempty"`
	Status   dag.EntryStatus `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	At       string          `json:"at"`
}

func newHooksList() *cobra.Command {
	var s sources
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Every hook, where it is written and whether it is live",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := s.program(cmd)
			if err != nil {
				return err
			}
			rows := make([]hookRow, 0, len(program.Hooks))
			for _, e := range program.Hooks {
				if hookc.Own(e.Hook) {
					continue
				}
				rows = append(rows, hookRow{e.Hook.Event, e.Hook.Name, e.Hook.Kind, e.Hook.Tier, e.Hook.Priority, e.Hook.Locked,
					e.Status, lists.First(e.Reason, rollout.Text(e.Hook)), e.Hook.Span.String()})
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), rows)
			}
			return printHooks(tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0), rows)
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func printHooks(w *tabwriter.Writer, rows []hookRow) error {
	fmt.Fprintf(w, "EVENT\tHOOK\tKIND\tTIER\tPRIORITY\tSTATUS\tAT\n")
	for _, r := range rows {
		status := strings.TrimSuffix(fmt.Sprintf("%s: %s", r.Status, r.Reason), ": ")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Event, r.Name, r.Kind, r.Tier, r.Priority, status, r.At)
	}
	return written("list", w.Flush())
}

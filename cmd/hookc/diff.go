package main

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/policy"
)

func newDiff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two policies: hooks, settings, and events they decide differently",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cannot("diff needs two policies: hookc diff OLD NEW")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.sources.formats(cmd)
	cmd.Flags().StringVar(&f.sources.Profile, "profile", "", "let both mean what they mean to `AGENT`: see hookc list dialect")
	cmd.Flags().BoolVar(&f.sources.Faithful, "faithful", false, "with --profile: follow the agent also where it lets something through in silence")
	cmd.Flags().BoolVar(&f.sources.AllowStale, "allow-stale", false, "use a compiled policy (.hookc) although its sources, the environment or hookc differ")
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only calls of `TOOL`, and the hooks that can match them")
	cmd.Flags().IntVar(&f.events, "events", diff.DefaultEvents, "try `N` events of each lifecycle point")
	cmd.Flags().StringArrayVar(&f.replay, "replay", nil, "try the recorded events in `FILE`, or - (repeatable)")
	recordedFlags(cmd, &f.recorded, &f.since)
	cmd.Flags().BoolVar(&f.loosened, "fail-on-loosened", false, "exit 1 only if a decision holds back less than it did")
	cmd.Flags().BoolVar(&f.allowUnknown, "allow-unknown", false, "with --fail-on-loosened: exit 0 where it is not known whether less is held back")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	decide.CompleteSources(cmd)
	decide.Complete(cmd, "event", policy.EventNames())
	return cmd
}

// diffFlags are the command line of diff.
type diffFlags struct {
	sources
	event, tool  string
	events       int
	replay       []string
	recorded     bool
	since        string
	asJSON       bool
	loosened     bool
	allowUnknown bool
}

func (f *diffFlags) run(cmd *cobra.Command, args []string) error {
	o := diff.Options{Tool: f.tool, Events: f.events, Prove: true}
	if f.since != "" && !f.recorded {
		return cannot("--since is of the decision log: it needs --recorded")
	}
	if f.events <= 0 {
		return cannot("--events is greater than nothing")
	}
	var err error
	if o.Event, err = parseEvent(f.event); err != nil {
		return err
	}
	old, err := f.side(cmd, "old", args[0])
	if err != nil {
		return err
	}
	new, err := f.side(cmd, "new", args[1])
	if err != nil {
		return err
	}
	var past *replayer
	past, o.Recorded = f.recorder(cmd)
	o.Cases = lists.Concat(casetest.Beside(old), casetest.Beside(new))
	found, err := f.compare(cmd, old, new, o)
	switch {
	case cmd.Context().Err() != nil:
		return exitError{Code: exitInterrupted, Text: "hookc: interrupted"}
	case err != nil:
		return err
	}
	switch format := f.sources.Output; {
	case f.asJSON && format == "" || format == "json":
		err = writeJSON(cmd.OutOrStdout(), found)
	case format == "" || format == "text":
		if _, err = io.WriteString(cmd.OutOrStdout(), found.Text()); err != nil {
			err = cannot("the differences cannot be written: %v", err)
		}
	default:
		err = writeReport(cmd, format, &report.Report{Results: diffResults(found, f.loosened)})
	}
	if err == nil && past != nil && past.report.Unread > 0 {
		return cannot("%s", strings.Join(past.report.Wrong, "\n"))
	}
	if err == nil && f.found(found) {
		err = exitError{Code: exitFindings, Text: ""}
	}
	return err
}

// found reports whether the differences are such that the exit code says so.
func (f *diffFlags) found(r *diff.Report) bool {
	if !f.loosened {
		return !r.Empty()
	}
	if !f.allowUnknown && len(r.Unknown(true)) > 0 {
		return true
	}
	return lists.Some(r.Decisions, func(c *diff.Change) bool { return c.Direction == diff.Loosened })
}

// compare compares two programs, and shows that it takes its time.
func (f *diffFlags) compare(cmd *cobra.Command, old, new *dag.Program, o diff.Options) (*diff.Report, error) {
	var doing atomic.Pointer[string]
	o.Say = func(what string) { doing.Store(&what) }
	o.Say("comparing")
	stop := progressOf(cmd.ErrOrStderr(), func() string { return *doing.Load() })
	defer stop()
	return diff.Compare(cmd.Context(), old, new, o)
}

// recorder gives the events of --replay and --recorded, nil without either. What it
// could not read it says in its report.
func (f *diffFlags) recorder(cmd *cobra.Command) (*replayer, func(give func(diff.Past) error) error) {
	if len(f.replay) == 0 && !f.recorded {
		return nil, nil
	}
	r := &replayer{replayFlags: &replayFlags{}, cmd: cmd, ctx: cmd.Context()}
	r.say("")
	return r, func(give func(diff.Past) error) error {
		one := func(rec *recording) error { return give(diff.Past{In: rec.in, Answers: rec.then, Masked: rec.masked}) }
		if f.recorded {
			if err := r.log(f.since, one); err != nil {
				return err
			}
		}
		for _, file := range f.replay {
			if err := r.records(file, one); err != nil {
				return err
			}
		}
		return nil
	}
}

// side compiles one of the two policies.
func (f *diffFlags) side(cmd *cobra.Command, which, path string) (*dag.Program, error) {
	program, found, err := f.sources.compile(cmd, []string{path}, hookc.SkipVerify(), hookc.AsFound())
	if err != nil {
		return nil, err
	}
	if program == nil {
		return nil, exitError{Code: exitCannot, Text: found.Render() + "hookc: the " + which + " policy, " + path + ", has errors: nothing was compared"}
	}
	return program, nil
}

// diffResults are the differences of decisions as results of tests: one that holds
// back less fails, and with onlyLoosened the others do not.
func diffResults(r *diff.Report, onlyLoosened bool) []report.Result {
	var out []report.Result
	for i := range r.Decisions {
		c := &r.Decisions[i]
		t := report.Result{Name: fmt.Sprintf("%s: %s → %s, %s %s", c.Direction, c.From, c.To, c.Event, c.Names()), Status: report.Failed,
			Text: fmt.Sprintf("old: %s\nnew: %s\nevent: %s", diff.InLine(c.Old), diff.InLine(c.New), c.Witness)}
		if onlyLoosened && c.Direction != diff.Loosened {
			t.Status = report.Skipped
		}
		for _, d := range []*policy.Decision{c.Old, c.New} {
			if !d.At.IsZero() {
				t.File = d.At.File()
				t.Line, _ = d.At.Position()
			}
		}
		out = append(out, t)
	}
	return out
}

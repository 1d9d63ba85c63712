package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/replay"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [-f PATH…] FILE… | --recorded",
		Short: "Decide recorded events again, and say what changed",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !f.recorded:
				return cannot("replay needs FILE…, recorded events as JSON lines (- for stdin), or --recorded for those of the decision log")
			case f.since != "" && !f.recorded:
				return cannot("--since is of the decision log: it needs --recorded")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.sources.flags(cmd)
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`; the event of records that name none")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only calls of `TOOL`")
	recordedFlags(cmd, &f.recorded, &f.since)
	cmd.Flags().StringVar(&f.dialect, "dialect", "", "the events are in the words of `AGENT`")
	cmd.Flags().BoolVar(&f.scripts, "scripts", false, "run bash hooks")
	cmd.Flags().BoolVar(&f.llm, "llm", false, "call the models of llm hooks")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	decide.Complete(cmd, "event", policy.EventNames())
	decide.Complete(cmd, "dialect", agent.Names())
	return cmd
}

// recordedFlags choose the decision log.
func recordedFlags(cmd *cobra.Command, recorded *bool, since *string) {
	cmd.Flags().BoolVar(recorded, "recorded", false, "the events of the decision log: hookc log enable")
	cmd.Flags().StringVar(since, "since", "", "with --recorded: only since so long ago (`7d`, 12h) or a time (2026-01-31T08:00:00Z)")
}

// replayFlags are the command line of replay.
type replayFlags struct {
	sources
	event, tool, dialect string
	scripts, llm, asJSON bool
	recorded             bool
	since                string
}

// replayer is one run of replay.
type replayer struct {
	*replayFlags
	cmd *cobra.Command
	ctx context.Context
	dir string
	// speaks is the dialect of the events, nil for canonical words.
	speaks *agent.Agent
	// mu guards the maps: engines are all, usual those of entries of the decision log.
	mu      sync.RWMutex
	engines map[string]*replayEngine
	usual   map[string]*replayEngine
	workers sync.Pool // of *replayWorker
	report  replay.Report
	doing   atomic.Pointer[string]
	done    []func()
}

func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	r := &replayer{replayFlags: f, cmd: cmd, ctx: cmd.Context(), engines: map[string]*replayEngine{}, usual: map[string]*replayEngine{}}
	r.report.Actions = map[policy.Action]int{}
	r.report.Changed, r.report.Unsure = []replay.Change{}, []replay.Change{}
	defer r.close()
	witness.CollectSeldom()
	if err := r.begin(); err != nil {
		return err
	}
	r.say("replaying")
	stop := progressOf(cmd.ErrOrStderr(), func() string { return *r.doing.Load() })
	err := r.replay(args)
	stop()
	cut := r.ctx.Err() != nil
	if err != nil && !cut {
		return err
	}
	if err := r.print(); err != nil {
		return err
	}
	return r.exit(cut)
}

// begin reads the flags.
func (r *replayer) begin() (err error) {
	if r.dir, err = decide.WorkDir(); err != nil {
		return err
	}
	event, err := parseEvent(r.event)
	if err != nil {
		return err
	}
	r.event = string(event)
	name, find := r.dialect, agent.Find
	if name == "" && r.Profile != "" {
		name, find = r.Profile, agent.FindProfile
	}
	if name == "" {
		return nil
	}
	if r.speaks, err = find(name); err != nil {
		return cannot("%v", err)
	}
	return nil
}

// close ends the engines.
func (r *replayer) close() {
	for _, done := range slices.Backward(r.done) {
		done()
	}
}

// say says what is being done.
func (r *replayer) say(what string) { r.doing.Store(&what) }

// replay decides every record of every file.
func (r *replayer) replay(args []string) error {
	if r.recorded {
		if err := r.log(r.since, r.one); err != nil {
			return err
		}
	}
	for _, file := range args {
		if err := r.records(file, r.one); err != nil {
			return err
		}
	}
	return nil
}

// one decides a record again, in its turn.
func (r *replayer) one(rec *recording) error {
	o, err := r.decided(rec)
	if err == nil {
		r.report.Add(&o)
	}
	return err
}

// decided decides a record again. It is safe for concurrent use.
func (r *replayer) decided(rec *recording) (replay.Outcome, error) {
	if r.event != "" && string(rec.event) != r.event || r.tool != "" && rec.in.Text(policy.FieldToolName) != r.tool {
		return replay.Outcome{What: replay.LeftOut}, nil
	}
	eng, err := r.engine(rec)
	if err != nil {
		return replay.Outcome{}, err
	}
	d, err := eng.eng.Fire(runner.WithAnswers(r.ctx, rec.kept), rec.event, rec.in)
	if err != nil {
		return replay.Outcome{}, cannot("%v", err)
	}
	if r.ctx.Err() != nil {
		return replay.Outcome{}, r.ctx.Err()
	}
	c := &replay.Change{At: rec.at, Name: rec.name, Event: rec.event, Recorded: rec.expect}
	return replay.Compare(c, rec.in, rec.whole, d, eng.concerned), nil
}

func (r *replayer) exit(cut bool) error {
	var text []string
	if n := r.report.Unread; n > 0 {
		text = append(text, r.report.Wrong...)
		text = append(text, fmt.Sprintf("hookc: %s could not be read", count(n, "record")))
	}
	code := exitClean
	switch {
	case cut:
		return exitError{Code: exitInterrupted, Text: strings.Join(append(text, "hookc: interrupted; what was replayed so far is above"), "\n")}
	case len(r.report.Wrong) > 0:
		code = exitCannot
	case len(r.report.Changed) > 0:
		code = exitFindings
	case r.report.Events+r.report.LeftOut+r.report.Debug == 0:
		return cannot("there are no events to replay")
	default:
		return nil
	}
	return exitError{Code: code, Text: strings.Join(text, "\n")}
}

func (r *replayer) print() error {
	out := r.cmd.OutOrStdout()
	if r.asJSON {
		return writeJSON(out, &r.report)
	}
	var s strings.Builder
	for i := range r.report.Changed {
		r.report.Changed[i].Text(&s, "CHANGED")
	}
	for i := range r.report.Unsure {
		r.report.Unsure[i].Text(&s, "UNSURE")
	}
	r.report.Summary(&s)
	_, err := io.WriteString(out, s.String())
	return written("report", err)
}

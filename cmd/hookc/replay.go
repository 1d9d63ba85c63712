package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

const replayHelp = `replay decides recorded events again and says which are decided otherwise now.
FILE holds JSON values one after another, a line each or not (- is stdin): events
as hookc run takes them, or records of an event and what was decided of it:

  {"event": {"event": "stop", …}, "decision": {"action": "proceed", …}}
  {"event": {…}, "expect": {"action": "block"}, "answers": {"review": {}}, "name": "…"}

decision is a whole Decision, as hookc run prints it: what it does not hold must
not be said now. expect is a part of one, as in a YAML test case; a *_test.yaml is
taken as well. Who decides, where that is written, warnings and the trace of hooks
are no part of the comparison, unless expect names them. An event without either
is decided and counted. What --debug writes holds no event, and is left out. What
hookc log export writes is taken with what scripts and models answered then.

Rules alone are evaluated. Hooks that are no in-process rule give the answer that
the record has for them, or nothing: --scripts runs bash hooks, which do what they
do, and --llm calls models; async hooks are never started. A decision that differs
and was made by a hook that is left out, or cannot be told from one, is listed as
unsure and is no difference.

Exit codes: 0 all as recorded · 1 a recorded decision differs · 3 could not run, or
a record cannot be read (the others are replayed) · 130 interrupted.`

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [-f PATH…] FILE…",
		Short: "Decide recorded events again, and say what changed",
		Long:  replayHelp,
		Example: `  hookc replay -f hooks.yaml events.jsonl
  hookc replay -f new/ -f user=global.yaml decisions.jsonl --json
  jq -c '{event: .}' event.json | hookc replay -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cannot("replay needs FILE…, recorded events as JSON lines (- for stdin)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.sources.flags(cmd)
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`; the event of records that name none")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only calls of `TOOL`")
	cmd.Flags().StringVar(&f.dialect, "dialect", "", "the events are in the words of `AGENT`")
	cmd.Flags().BoolVar(&f.scripts, "scripts", false, "run bash hooks")
	cmd.Flags().BoolVar(&f.llm, "llm", false, "call the models of llm hooks")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	decide.Complete(cmd, "event", policy.EventNames())
	decide.Complete(cmd, "dialect", agent.Names())
	return cmd
}

// replayFlags are the command line of replay.
type replayFlags struct {
	sources
	event, tool, dialect string
	scripts, llm, asJSON bool
}

// replayer is one run of replay.
type replayer struct {
	*replayFlags
	cmd *cobra.Command
	ctx context.Context
	dir string
	// speaks is the dialect of the events, nil for canonical words.
	speaks  *agent.Agent
	engines map[string]*replayEngine
	report  replayReport
	doing   atomic.Pointer[string]
	done    []func()
}

func (f *replayFlags) run(cmd *cobra.Command, args []string) error {
	r := &replayer{replayFlags: f, cmd: cmd, ctx: cmd.Context(), engines: map[string]*replayEngine{}}
	r.report.Actions = map[policy.Action]int{}
	r.report.Changed, r.report.Unsure = []replayed{}, []replayed{}
	defer r.close()
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
	if r.event != "" {
		event, ok := policy.ParseEvent(r.event)
		if !ok {
			return cannot("unknown event %q: %s", r.event, diag.DidYouMean(r.event, policy.EventNames(), "`hookc help events` lists them"))
		}
		r.event = string(event)
	}
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
	for _, file := range args {
		err := r.records(file, func(rec *recording) error {
			r.say(fmt.Sprintf("replaying %s, %s", rec.at, count(r.report.Events, "event")))
			return r.one(rec)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// one decides a record again.
func (r *replayer) one(rec *recording) error {
	if r.event != "" && string(rec.event) != r.event || r.tool != "" && rec.in.Text(policy.FieldToolName) != r.tool {
		r.report.LeftOut++
		return nil
	}
	eng, err := r.engine(rec)
	if err != nil {
		return err
	}
	d, err := eng.eng.Fire(runner.WithAnswers(r.ctx, rec.kept), rec.event, rec.in)
	if err != nil {
		return cannot("%v", err)
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	r.report.note(rec, eng, d)
	return nil
}

func (r *replayer) exit(cut bool) error {
	var text []string
	if n := len(r.report.unread); n > 0 {
		text = append(text, r.report.unread...)
		text = append(text, fmt.Sprintf("hookc: %s could not be read", count(n, "record")))
	}
	code := exitClean
	switch {
	case cut:
		return exitError{Code: exitInterrupted, Text: strings.Join(append(text, "hookc: interrupted; what was replayed so far is above"), "\n")}
	case len(r.report.unread) > 0:
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

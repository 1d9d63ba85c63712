package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/screen"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
)

// maxInput is the largest event accepted, in bytes.
const maxInput = 32 << 20

func newRun() *cobra.Command {
	var s sources
	var asJSON, serial bool
	cmd := &cobra.Command{
		Use:   "run [EVENT]",
		Short: "Decide one event read from stdin",
		Long: `run reads one event as a JSON object from stdin and writes the Decision to
stdout as JSON. EVENT is any canonical or native name of an event; without it
the object names its own (event, hook_event_name or event_type).

Exit codes: 0 proceed · 2 blocked, the reason on stderr · 4 ask or defer ·
3 could not run, a diagnostic on stderr · 130 interrupted.

With --dialect AGENT it reads that agent's own input and answers as its hook:
stdout, stderr and exit code are what the agent understands, and a failure of
hookc itself is an answer that does not let the action through.`,
		Example: `  echo '{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' |
    hookc run -f hooks.yaml
  hookc run PreToolUse --serial < event.json
  hookc run PreToolUse --dialect claude -f hooks.yaml   # the command of a hook`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: eventArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkDeadline(cmd); err != nil {
				return err
			}
			s.live, s.ignored = true, ignoredVariables(cmd)
			if s.user != "" && !filepath.IsAbs(s.user) {
				return cannot("--user-policy takes an absolute path")
			}
			if speaker := speakerOf(cmd.Context()); speaker != nil {
				return speaker.decide(cmd, &s, serial)
			}
			dog, err := guarded(cmd)
			if err != nil {
				return err
			}
			d, err := s.decideInput(cmd, args, serial)
			if !dog.finish() {
				select {} // the watchdog has answered and ends the process
			}
			if err != nil {
				return err
			}
			signal.Ignore(syscall.SIGPIPE) // a reader that is gone is an error below
			err = writeDecision(cmd.OutOrStdout(), d, !asJSON && isTerminal(cmd.OutOrStdout()))
			return verdictExit(d, err)
		},
	}
	s.flags(cmd)
	s.passes(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one line of JSON, also on a terminal")
	cmd.Flags().BoolVar(&s.verify, "verify", false, "first compare the plan with the serial definition on mock events, as compile does")
	cmd.Flags().BoolVar(&s.paranoid, "paranoid", false, "have both native code and OPA evaluate Rego; where they differ the stricter counts")
	dialectFlag(cmd)
	deadlineFlag(cmd)
	cmd.Flags().StringVar(&s.user, "user-policy", "", "the user's policy is `FILE`, whatever HOME and XDG_CONFIG_HOME say: an absolute path, as install writes it")
	framedFlag(cmd)
	cmd.Flags().BoolVar(&serial, "serial", false, "decide with the serial interpreter, the definition")
	return cmd
}

// eventArgs completes event names.
func eventArgs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return policy.EventNames(), cobra.ShellCompDirectiveNoFileComp
}

// readEvent reads the event from a stream, in the words of the profile's agent
// where there is one; args may name it.
func (s *sources) readEvent(ctx context.Context, r io.Reader, args []string) (*policy.Context, policy.Event, error) {
	if s.profile == "" {
		return readEvent(ctx, r, args)
	}
	d, err := agent.FindProfile(s.profile)
	if err != nil {
		return nil, "", cannot("%v", err)
	}
	data, err := readText(ctx, r)
	if err != nil {
		return nil, "", err
	}
	call, err := d.Decode(data, strings.Join(args, ""), os.Getenv)
	if err != nil {
		return nil, "", cannot("%v", err)
	}
	return withDir(call.Context, call.Event())
}

// withDir gives an event that names no folder the one hookc is in.
func withDir(in *policy.Context, event policy.Event) (*policy.Context, policy.Event, error) {
	if !in.Has(policy.FieldCwd) {
		dir, err := workDir()
		if err != nil {
			return nil, "", err
		}
		in.Set(policy.FieldCwd, dir)
	}
	return in, event, nil
}

// readEvent reads the event from a stream; args may name it.
func readEvent(ctx context.Context, r io.Reader, args []string) (*policy.Context, policy.Event, error) {
	data, err := readText(ctx, r)
	if err != nil {
		return nil, "", err
	}
	in, event, err := namedEvent(data, args)
	if err != nil {
		return nil, "", err
	}
	return withDir(in, event)
}

// readText reads the text of an event.
func readText(ctx context.Context, r io.Reader) ([]byte, error) {
	here := watchdogOf(ctx).await()
	data, err := readInput(ctx, r)
	here()
	switch {
	case ctx.Err() != nil:
		return nil, exitError{exitInterrupted, ""}
	case errors.Is(err, errTooLarge):
		return nil, cannot("%v", err)
	case err != nil:
		return nil, cannot("the event cannot be read: %v", err)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, cannot("stdin is empty: run reads one event as a JSON object from stdin")
	}
	return data, nil
}

// namedEvent decodes an event and finds which one it is; args may name it.
func namedEvent(data []byte, args []string) (*policy.Context, policy.Event, error) {
	in, sent, err := policy.DecodeContext(data)
	if err != nil {
		return nil, "", notValid(err)
	}
	name := sent
	if len(args) > 0 {
		name = args[0]
	}
	if name == "" {
		return nil, "", cannot("no event: name it as an argument or in the field \"event\"")
	}
	event, ok := policy.ParseEvent(name)
	if !ok {
		return nil, "", cannot("unknown event %q: %s", name, diag.DidYouMean(name, policy.EventNames(), "`hookc help events` lists them"))
	}
	if own, known := policy.ParseEvent(sent); known && own != event {
		return nil, "", cannot("the argument says %s and the input says %s", event, own)
	}
	return in, event, nil
}

func notValid(err error) error {
	return cannot("the event is not valid: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// decideInput decides the event on stdin, which is read once.
func (s *sources) decideInput(cmd *cobra.Command, args []string, serial bool) (*policy.Decision, error) {
	if err := s.takeProfile(callerOf(cmd.Context())); err != nil {
		return nil, err
	}
	in, event, err := s.readEvent(cmd.Context(), cmd.InOrStdin(), args)
	if err != nil {
		return nil, err
	}
	return s.decide(cmd, subjectOf(in, event), serial)
}

// subject is an event to be decided: what it says, and the folders whose
// policies decide.
type subject struct {
	in    *policy.Context
	event policy.Event
	// project is where the policy is looked for: the agent may have wandered off.
	project string
	around  []string
	// said is what hooks answer, or answered, where the event is decided before it
	// comes; nil for most events.
	said *runner.Answers
}

// subjectOf is an event as run, serve and explain decide it. It does not change
// any more.
func subjectOf(in *policy.Context, event policy.Event) subject {
	in = in.Frozen(event)
	return subject{in: in, event: event, project: in.Text(policy.FieldProjectRoot), around: memory.Around(in)}
}

// fire decides the event by an engine.
func (e subject) fire(ctx context.Context, eng *hookc.Engine, serial bool) (*policy.Decision, error) {
	ctx = runner.WithAnswers(ctx, e.said)
	if serial {
		return eng.FireSerial(ctx, e.event, e.in)
	}
	return eng.Fire(ctx, e.event, e.in)
}

// oneEvent compiles for a process that decides one event: other events are
// left out, and so is what pays only when there are more.
func oneEvent(event policy.Event) hookc.Option {
	return host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event, c.Once = event, true })
}

// everyEvent compiles for one that decides all there are of a kind.
func everyEvent(event policy.Event) hookc.Option {
	return host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event = event })
}

// decide opens the policy for one event, fires it, and logs what was decided.
func (s *sources) decide(cmd *cobra.Command, e subject, serial bool) (*policy.Decision, error) {
	log := keep.Log{Brief: true}
	defer log.Close()
	agent := ""
	if said := speakerOf(cmd.Context()); said != nil {
		agent = said.call.Agent()
	}
	return logged(cmd.Context(), &log, e, agent, func(e subject) (*policy.Decision, error) { return s.decideUnlogged(cmd, e, serial) })
}

func (s *sources) decideUnlogged(cmd *cobra.Command, e subject, serial bool) (*policy.Decision, error) {
	dog := watchdogOf(cmd.Context())
	dog.decides(cmd, e.event)
	events := oneEvent(e.event)
	if s.paranoid { // that takes native code
		events = everyEvent(e.event)
	}
	eng, kept, done, err := s.ready(cmd, events, e.project, e.around)
	if err != nil {
		return nil, err
	}
	defer done()
	if plan := eng.Program().Plan(e.event); plan != nil {
		dog.planned(plan.Deadline)
	}
	d, err := e.fire(kept.Counting(cmd.Context()), eng, serial)
	var exit exitError
	var unfit *hookc.UnfitError
	switch {
	case errors.As(err, &exit):
		return nil, err
	case errors.As(err, &unfit) && speakerOf(cmd.Context()) == nil: // the Decision refuses
	case err != nil:
		return nil, cannot("%v", err)
	}
	kept.Save(eng.Metrics())
	d.Warnings = append(append(d.Warnings, kept.Warnings()...), s.warnings()...)
	if err := eng.Close(); err != nil {
		return nil, cannot("%v", err)
	}
	return d, nil
}

// ready opens the policy of a project for the events that one of oneEvent and
// everyEvent says, with what outlasts a process. The caller calls done after closing the engine.
func (s *sources) ready(cmd *cobra.Command, events hookc.Option, project string, around []string, more ...hookc.Option) (eng *hookc.Engine, m *memory.Memory, done func(), err error) {
	options, done, err := s.options(cmd, nil, project)
	if err != nil {
		return nil, nil, nil, err
	}
	m = memory.Open(project)
	options = append(append(options, m.Options()...), more...)
	options = append(options, detached(s, callerOf(cmd.Context()), project, around), events, hookc.Around(around...))
	if !s.verify {
		options = append(options, hookc.SkipVerify())
	}
	if eng, err = open(cmd.Context(), options); err != nil {
		done()
		return nil, nil, nil, err
	}
	return eng, m, done, nil
}

// open compiles a policy; its findings become the text of an exit 3.
func open(ctx context.Context, options []hookc.Option) (*hookc.Engine, error) {
	eng, err := hookc.Open(ctx, options...)
	if err := openError(ctx, err); err != nil {
		return nil, err
	}
	return eng, nil
}

// openError is the exit for what came of compiling a policy, nil when it did.
func openError(ctx context.Context, err error) error {
	var list diag.ListError
	var refused *artifact.Error
	switch {
	case errors.As(err, &refused):
		return compiledRefused{cannot("%v", refused)}
	case errors.As(err, &list):
		return exitError{exitCannot, list.List.Render() + "hookc: the policy does not compile"}
	case ctx.Err() != nil:
		return exitError{exitInterrupted, ""}
	case err != nil:
		return cannot("%v", err)
	}
	return nil
}

func writeDecision(w io.Writer, d *policy.Decision, indent bool) error {
	text, err := d.MarshalJSON()
	if err != nil {
		return cannot("the decision cannot be written: %v", err)
	}
	if indent {
		var b bytes.Buffer
		if err := json.Indent(&b, text, "", "  "); err != nil {
			return cannot("the decision cannot be written: %v", err)
		}
		text = b.Bytes()
	}
	if _, err := fmt.Fprintf(w, "%s\n", text); err != nil {
		return cannot("the decision cannot be written: %v", err)
	}
	return nil
}

// verdictExit is the exit code of a decision, with what to say on stderr. A
// refusal stays one when the decision could not be written: agents let the
// action happen at any other code.
func verdictExit(d *policy.Decision, unwritten error) error {
	exit := exitError{exitBlocked, because(d)}
	switch d.Action {
	case policy.Proceed:
		return unwritten
	case policy.Cancelled:
		return exitError{exitInterrupted, "hookc: cancelled"}
	case policy.AskUser, policy.DeferCall:
		exit.code = exitAsk
	}
	if unwritten != nil {
		exit.text += "\n" + unwritten.Error()
	}
	return exit
}

// because is why a decision does not let the action through, for stderr: a line
// for each reason, and what follows of one indented.
func because(d *policy.Decision) string {
	lines := append(append([]string{}, d.Feedback...), d.Reasons...)
	if d.StopReason != "" {
		lines = append(lines, d.StopReason)
	}
	if len(lines) == 0 {
		lines = []string{"blocked by " + d.By}
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\n", "\n  ")
	}
	return strings.Join(lines, "\n")
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := screen.Behind(w).(*os.File)
	return ok && terminal(f)
}

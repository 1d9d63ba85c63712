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
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/internal/screen"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

func newRun() *cobra.Command {
	return decide.NewRun(func(cmd *cobra.Command, args []string, f *decide.RunFlags) error {
		s := sources{f.Sources}
		if speaker := speakerOf(cmd.Context()); speaker != nil {
			return decideSpoken(speaker, cmd, &s, f.Serial)
		}
		dog, err := guarded(cmd)
		if err != nil {
			return err
		}
		d, err := s.decideInput(cmd, args, f.Serial)
		if !dog.finish() {
			select {} // the watchdog has answered and ends the process
		}
		if err != nil {
			return err
		}
		signal.Ignore(syscall.SIGPIPE) // a reader that is gone is an error below
		err = writeDecision(cmd.OutOrStdout(), d, !f.AsJSON && isTerminal(cmd.OutOrStdout()))
		return verdictExit(d, err)
	})
}

// readEvent reads the event from a stream, in the words of the profile's agent
// where there is one; args may name it.
func (s *sources) readEvent(ctx context.Context, r io.Reader, args []string) (*policy.Context, policy.Event, error) {
	if s.Profile == "" {
		return readEvent(ctx, r, args)
	}
	d, err := agent.FindProfile(s.Profile)
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
		dir, err := decide.WorkDir()
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
		return nil, exitError{Code: exitInterrupted, Text: ""}
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
	if err := s.TakeProfile(decide.CallerOf(cmd.Context())); err != nil {
		return nil, err
	}
	in, event, err := s.readEvent(cmd.Context(), cmd.InOrStdin(), args)
	if err != nil {
		return nil, err
	}
	return s.decide(cmd, decide.SubjectOf(in, event), serial)
}

// decide opens the policy for one event, fires it, and logs what was decided.
func (s *sources) decide(cmd *cobra.Command, e decide.Subject, serial bool) (*policy.Decision, error) {
	log := keep.Log{Brief: true}
	defer log.Close()
	agent, call := "", (*agent.Call)(nil)
	if said := speakerOf(cmd.Context()); said != nil {
		agent, call = said.Call.Agent(), said.Call
	}
	e = e.Asking(decide.CallerOf(cmd.Context()), call, watchdogOf(cmd.Context()).until)
	return decide.Logged(cmd.Context(), &log, e, agent, s.Log, func(e decide.Subject) (*policy.Decision, error) {
		d, err := s.decideUnlogged(cmd, e, serial)
		if err == nil && s.Server != nil {
			d = s.Server.Decide(cmd.Context(), e.Event, e.In, d)
		}
		return d, err
	})
}

func (s *sources) decideUnlogged(cmd *cobra.Command, e decide.Subject, serial bool) (*policy.Decision, error) {
	dog := watchdogOf(cmd.Context())
	dog.decides(cmd, e.Event)
	events := decide.OneEvent(e.Event)
	if s.Paranoid { // that takes native code
		events = decide.EveryEvent(e.Event)
	}
	eng, kept, done, err := s.Ready(cmd, events, e.Project, e.Around)
	if err != nil {
		return nil, err
	}
	defer done()
	if plan := eng.Program().Plan(e.Event); plan != nil {
		dog.planned(plan.Deadline)
	}
	d, err := e.Under(eng.Program()).Fire(kept.Counting(cmd.Context(), e.Around), eng, serial)
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
	d.Warnings = append(append(d.Warnings, kept.Warnings()...), s.Warnings()...)
	if err := eng.Close(); err != nil {
		return nil, cannot("%v", err)
	}
	return d, nil
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
	_, err = fmt.Fprintf(w, "%s\n", text)
	return written("decision", err)
}

// verdictExit is the exit code of a decision, with what to say on stderr. A
// refusal stays one when the decision could not be written: agents let the
// action happen at any other code.
func verdictExit(d *policy.Decision, unwritten error) error {
	exit := exitError{Code: exitBlocked, Text: because(d)}
	switch d.Action {
	case policy.Proceed:
		return unwritten
	case policy.Cancelled:
		return exitError{Code: exitInterrupted, Text: "hookc: cancelled"}
	case policy.AskUser, policy.DeferCall:
		exit.Code = exitAsk
	}
	if unwritten != nil {
		exit.Text += "\n" + unwritten.Error()
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

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// speaker answers one event in an agent's own protocol: `run --dialect`. It
// stands around the whole command, so that whatever goes wrong, a bad flag, a
// policy that does not compile, a bug, is an answer in that protocol too and
// never one of hookc's own exit codes.
type speaker struct {
	call     *agent.Call
	decision *policy.Decision
	// told, when set, is given what the command line says instead of having
	// it carried out.
	told func(src *sources, serial bool)
}

type speakerKey struct{}

// speakerOf is the speaker a command works for, or nil.
func speakerOf(ctx context.Context) *speaker {
	s, _ := ctx.Value(speakerKey{}).(*speaker)
	return s
}

// dialectFlag adds --dialect to run.
func dialectFlag(cmd *cobra.Command) {
	cmd.Flags().String("dialect", "", "answer in the own protocol of `AGENT`, as its hook: see hookc list dialect")
	cmd.MarkFlagsMutuallyExclusive("dialect", "json")
	complete(cmd, "dialect", agent.Names())
}

// spoken finds the dialect a command line asks for, before anything else is
// looked at.
func spoken(args []string) (name string, ok bool) {
	if len(args) == 0 || args[0] != "run" {
		return "", false
	}
	for i, arg := range args[1:] {
		value, joined := strings.CutPrefix(arg, "--dialect=")
		switch {
		case arg == "-h", arg == "--help":
			return "", false
		case arg == "--":
			return name, ok
		case joined:
			name, ok = value, true
		case arg == "--dialect":
			name, ok = "", true
			if i+2 < len(args) {
				name = args[i+2]
			}
		}
	}
	return name, ok
}

// speak runs `run --dialect` and returns the exit code the dialect gives. A
// dialect nobody knows gets what most agents take for a refusal.
func speak(name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	d, err := agent.Find(name)
	if err != nil {
		fmt.Fprintf(stderr, "hookc: %v\n", err)
		return exitBlocked
	}
	event := eventArgument(args)
	out := &mouth{stdout: stdout, stderr: stderr, framed: slices.Contains(args, framed)}
	dog := newWatchdog(limitFor(d, args))
	unread, _ := d.Decode(nil, event, os.Getenv) // which knows what the command line says
	dog.answers(out.failing(unread))
	go dog.watch()
	data, err := readInput(context.Background(), stdin)
	w := answer(d, data, err, event, os.Getenv, func(s *speaker) (string, error) {
		dog.answers(out.failing(s.call))
		return s.run(args, dog)
	})
	if !dog.finish() {
		select {} // the watchdog has answered and ends the process
	}
	return out.say(w)
}

// limitFor is how long a command line has to answer an agent, and whether it
// says so itself.
func limitFor(d *agent.Agent, args []string) (time.Duration, bool) {
	if given, ok := givenDeadline(args); ok {
		return given, true
	}
	limit := readyBy
	if place, err := d.Settings(); err == nil && place.Standard > 0 {
		limit = min(limit, place.Standard*4/5)
	}
	return limit, false
}

// mouth is where the answer to an agent goes.
type mouth struct {
	stdout, stderr io.Writer
	framed         bool
}

// say writes an answer and returns the exit code.
func (m *mouth) say(w agent.Wire) int {
	signal.Ignore(syscall.SIGPIPE) // a reader that is gone is an error below
	if m.framed {
		w = agent.Wire{Stdout: wire.AppendReply(nil, &wire.Reply{Stdout: w.Stdout, Stderr: []byte(w.Stderr), Exit: w.Exit})}
	}
	if len(w.Stdout) > 0 {
		if _, err := m.stdout.Write(w.Stdout); err != nil {
			fmt.Fprintf(m.stderr, "hookc: the answer cannot be written: %v\n", err)
			return exitBlocked
		}
	}
	fmt.Fprint(m.stderr, w.Stderr) // some agents show a reason with its line break
	return w.Exit
}

// failing speaks the posture of a call.
func (m *mouth) failing(c *agent.Call) func(why string, interrupted bool) int {
	return func(why string, _ bool) int { return m.say(c.Fail(why)) }
}

// framed is the flag with which the answer is one frame on stdout.
const framed = "--framed"

// framedFlag adds --framed to run: hookgate tells by it whether what a process
// leaves behind is an answer.
func framedFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(framed[2:], false, "with --dialect: write the answer as one frame on stdout, for hookgate")
	if err := cmd.Flags().MarkHidden(framed[2:]); err != nil {
		panic("hookc: " + err.Error())
	}
}

// answer decodes an event, has it decided and puts the answer in the
// dialect's words. unread says why data is not the event, or is nil; event is
// what the command line calls it.
func answer(d *agent.Agent, data []byte, unread error, event string, env func(string) string,
	decide func(*speaker) (log string, err error)) (w agent.Wire) {
	s := &speaker{call: d.Unread()}
	defer func() {
		if p := recover(); p != nil {
			w = s.call.Fail(fmt.Sprintf("internal error: %v", p))
		}
	}()
	call, wrong := d.Decode(data, event, env)
	s.call = call
	if unread != nil {
		wrong = unread
	}
	if wrong != nil {
		return call.Fail(wrong.Error())
	}
	log, err := decide(s)
	if err != nil {
		return call.Fail(err.Error())
	}
	w = call.Encode(s.decision)
	if w.Exit == 0 && w.Stderr == "" {
		w.Stderr = call.Log(log)
	}
	return w
}

// run carries out the command line and returns what it said on stderr.
func (s *speaker) run(args []string, dog *watchdog) (log string, err error) {
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), watchdogKey{}, dog))
	defer stop()
	dog.cancel.Store(&stop)
	var said bytes.Buffer
	root := rootFor(args)
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(io.Discard)
	root.SetErr(&said)
	err = root.ExecuteContext(context.WithValue(ctx, speakerKey{}, s))
	switch {
	case err != nil && err.Error() == "":
		return "", errors.New("it was interrupted")
	case err != nil:
		return "", err
	case s.decision == nil:
		return "", errors.New("internal error: there is no decision")
	}
	return said.String(), nil
}

// decide is run's own work, for the speaker.
func (s *speaker) decide(cmd *cobra.Command, src *sources, serial bool) error {
	if s.told != nil {
		s.told(src, serial)
		return nil
	}
	in := s.call.Context
	if !in.Has(policy.FieldCwd) {
		dir, err := callerOf(cmd.Context()).workDir()
		if err != nil {
			return err
		}
		in.Set(policy.FieldCwd, dir)
	}
	d, err := s.canary(cmd, src)
	if d == nil && err == nil {
		project := ""
		d, err = withAhead(s.call, func(e subject) (*policy.Decision, error) {
			project = e.project
			return src.decide(cmd, e, serial)
		})
		if callerOf(cmd.Context()).getenv(canaryEnv) == "" { // doctor is not the agent
			memory.Open(project).Saw(s.call.Agent(), s.call.Native())
		}
	}
	s.decision = d
	return err
}

// withAhead decides a call, and what it begins where the agent lets nobody refuse
// that when it comes.
func withAhead(call *agent.Call, decide func(subject) (*policy.Decision, error)) (*policy.Decision, error) {
	own := subjectOf(call.Context, call.Event())
	if call.DecidedAhead() {
		own.said = runner.AnswersBefore(memory.Open(own.project).Began(own.in))
	}
	d, err := decide(own)
	ahead := call.Ahead()
	if err != nil || ahead == nil || d.Action != policy.Proceed && d.Action != policy.AskUser && d.Action != policy.DeferCall {
		return d, err
	}
	next := subjectOf(ahead, policy.SubagentStart)
	next.said = runner.AnswersAhead()
	begun, err := decide(next)
	if err != nil {
		return nil, err
	}
	if begun.Action == policy.Proceed {
		memory.Open(next.project).Begins(next.in, next.said.Bytes())
		for _, w := range begun.Warnings {
			if !slices.Contains(d.Warnings, w) {
				d.Warnings = append(d.Warnings, w)
			}
		}
		return d, nil
	}
	if begun.Action == policy.Abort { // what is left is the subagent alone
		begun.Action = policy.Block
	}
	begun.Event = call.Event()
	return begun, nil
}

// eventArgument is the event a command line names, as far as it can be read.
func eventArgument(args []string) string {
	cmd, rest, err := rootFor(args).Find(args)
	if err != nil {
		return ""
	}
	// A bad flag is reported when the command is carried out; what stands
	// before it counts.
	_ = cmd.ParseFlags(rest)
	return cmd.Flags().Arg(0)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

type speakerKey struct{}

// speakerOf is the speaker a command works for, or nil.
//
//go:noinline
func speakerOf(ctx context.Context) *decide.Speaker {
	s, _ := ctx.Value(speakerKey{}).(*decide.Speaker)
	return s
}

// speak runs `run --dialect` and returns the exit code the dialect gives. A
// dialect nobody knows gets what most agents take for a refusal.
func speak(name string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	d, err := agent.Find(name)
	if err != nil {
		fmt.Fprintf(stderr, "hookc: %v\n", err)
		return exitBlocked
	}
	event := decide.EventArgument(args)
	out := &mouth{stdout: stdout, stderr: stderr, framed: lists.Has(args, decide.Framed)}
	dog := newWatchdog(limitFor(d, args))
	unread, _ := d.Decode(nil, event, os.Getenv) // which knows what the command line says
	dog.answers(out.failing(unread))
	go dog.watch()
	data, err := readInput(context.Background(), stdin)
	w := decide.Answer(d, data, err, event, os.Getenv, func(s *decide.Speaker) (string, error) {
		dog.answers(out.failing(s.Call))
		return carryOut(s, args, dog)
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

// carryOut carries out the command line and returns what it said on stderr.
func carryOut(s *decide.Speaker, args []string, dog *watchdog) (log string, err error) {
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
	case s.Decision == nil:
		return "", errors.New("internal error: there is no decision")
	}
	return said.String(), nil
}

// decideSpoken is run's own work, for the speaker.
func decideSpoken(s *decide.Speaker, cmd *cobra.Command, src *sources, serial bool) error {
	in := s.Call.Context
	if !in.Has(policy.FieldCwd) {
		dir, err := decide.CallerOf(cmd.Context()).WorkDir()
		if err != nil {
			return err
		}
		in.Set(policy.FieldCwd, dir)
	}
	d, err := canary(s, cmd, src)
	if d == nil && err == nil {
		project := ""
		d, err = decide.WithAhead(s.Call, func(e decide.Subject) (*policy.Decision, error) {
			project = e.Project
			return src.decide(cmd, e, serial)
		})
		if decide.CallerOf(cmd.Context()).Getenv(decide.CanaryEnv) == "" { // doctor is not the agent
			memory.Open(project).Saw(s.Call.Agent(), s.Call.Native())
		}
	}
	s.Decision = d
	return err
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// The ways as they are printed.
const (
	wayGate  = "process/hookgate"
	wayRun   = "process/run"
	wayFloor = "process/true"
)

// gateDeadline is how long a gate waits for its answer: a slow hook is to be
// measured, not refused.
const gateDeadline = 10 * time.Minute

// tryWays decides an event once each way, and makes cases of those that answer
// as Go calls do.
func (b *bencher) tryWays(e *benchEvent) error {
	concerned := e.concerned()
	if len(concerned) > 0 {
		e.note("left out: %s", e.because(concerned))
	}
	if b.wants(howInProcess) {
		c := &benchCase{event: e, how: howInProcess, inProcess: true, shot: func() benchShot { return b.inProcess(e) }}
		if err := b.try(c); err != nil {
			return err
		}
	}
	if !b.wants(howSocket) && !b.wants(howProcess) {
		return nil
	}
	if len(concerned) > 0 {
		e.note("measured in process alone: the other ways would run what is left out")
		return nil
	}
	if err := b.speak(e); err != nil {
		return err
	}
	if err := b.tryServed(e); err != nil {
		return err
	}
	if !b.wants(howProcess) {
		return nil
	}
	return b.try(b.process(e, wayRun, append([]string{b.self()}, b.words(e)...)))
}

// tryServed are the ways through serve. An event that it hands back goes
// neither.
func (b *bencher) tryServed(e *benchEvent) error {
	switch {
	case e.speaks == nil:
		e.note("not through serve: no agent has the event, and serve speaks to agents")
		return nil
	case b.server == nil:
		return nil
	}
	if back := b.handedBack(e); back != "" {
		e.note("not through serve, which hands the event back: %s", back)
		return nil
	}
	if b.wants(howSocket) {
		c := &benchCase{event: e, how: howSocket, alone: e.gated, shot: func() benchShot { return b.socketShot(e) }}
		if err := b.try(c); err != nil {
			return err
		}
	}
	if !b.wants(howProcess) || b.gate == "" {
		return nil
	}
	words := b.words(e)
	return b.try(b.process(e, wayGate, append([]string{b.gate, "--hookc", b.self(), "--socket", b.server.socket, "--deadline", gateDeadline.String()}, words[1:]...)))
}

// try goes a way once, all of the answer compared.
func (b *bencher) try(c *benchCase) error {
	r, err := b.round(&benchCase{event: c.event, how: c.how, shot: c.shot, alone: true}, limits{runs: 1})
	if err != nil {
		return err
	}
	if r.runs > 0 {
		b.cases = append(b.cases, c)
	}
	return nil
}

// inProcess decides an event as a host does that has it as text, or under
// --dialect as serve does.
func (b *bencher) inProcess(e *benchEvent) benchShot {
	var d *policy.Decision
	eng := e.engine.eng
	if b.speaks == nil {
		var text []byte
		return benchShot{
			run: func(ctx context.Context) (err error) {
				if d, err = eng.FireJSON(ctx, e.event, e.data); err == nil {
					text, err = d.MarshalJSON()
				}
				return err
			},
			check: func(all bool) error {
				if len(text) == 0 {
					return errors.New("hookc: an empty Decision")
				}
				return e.check(d, howInProcess, all)
			},
		}
	}
	var said agent.Wire
	return benchShot{
		run: func(ctx context.Context) (err error) {
			call, err := b.speaks.Decode(e.data, string(e.event), b.getenv)
			if err != nil {
				return err
			}
			if d, err = eng.Fire(ctx, e.event, call.Context); err == nil {
				said = call.Encode(d)
			}
			return err
		},
		check: func(all bool) error {
			if err := e.check(d, howInProcess, all); err != nil || e.speaks == nil {
				return err
			}
			return e.heard(said, howInProcess)
		},
	}
}

// heard holds an answer in an agent's words against the first.
func (e *benchEvent) heard(w agent.Wire, how string) error {
	if w.Exit == e.wire.Exit && w.Stderr == e.wire.Stderr && bytes.Equal(w.Stdout, e.wire.Stdout) {
		return nil
	}
	return errDiffer(e, how, fmt.Sprintf("want %s; got %s", heard(e.wire), heard(w)))
}

// speak finds the agent in whose words the event is decided where there is no
// Go call, and its answer.
func (b *bencher) speak(e *benchEvent) error {
	for _, d := range b.speakers() {
		if len(d.Can(e.event)) == 0 {
			continue
		}
		call, err := d.Decode(e.data, string(e.event), b.getenv)
		if err != nil || call.Event() != e.event {
			continue
		}
		got, err := e.engine.eng.Fire(b.ctx, e.event, call.Context)
		if err != nil {
			return cannot("%v", err)
		}
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if text := e.differ(got); text != "" {
			return errDiffer(e, "in the words of "+d.ID+" it", text)
		}
		e.speaks, e.wire = d, call.Encode(got)
		return nil
	}
	return nil
}

// speakers are the dialects that may carry an event: the one of --dialect, or
// claude, whose names of fields are most like hookc's, and then any.
func (b *bencher) speakers() []*agent.Agent {
	if b.speaks != nil {
		return []*agent.Agent{b.speaks}
	}
	var out []*agent.Agent
	if d, err := agent.Find("claude"); err == nil {
		out = append(out, d)
	}
	for _, d := range agent.All() {
		if !strings.Contains(d.ID, "@") && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// words is the command line that decides an event, after hookc.
func (b *bencher) words(e *benchEvent) []string {
	out := []string{"run", string(e.event)}
	if e.speaks != nil {
		out = append(out, "--dialect", e.speaks.ID)
	}
	for _, file := range append(slices.Clone(b.files), b.args...) {
		out = append(out, "-f", file)
	}
	if b.format != "" {
		out = append(out, "--format", b.format)
	}
	if b.profile != "" {
		out = append(out, "--profile", b.profile)
	}
	if b.faithful {
		out = append(out, "--faithful")
	}
	return out
}

// self is this program.
func (b *bencher) self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// findGate is the hookgate beside this program, "" when there is none.
func (b *bencher) findGate() string {
	path := filepath.Join(filepath.Dir(b.self()), "hookgate"+filepath.Ext(b.self()))
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		b.note("no hookgate beside hookc: it is not measured")
		return ""
	}
	return path
}

// process is a case of a program that is started for each event.
func (b *bencher) process(e *benchEvent, how string, argv []string) *benchCase {
	return &benchCase{event: e, how: how, alone: e.gated, shot: func() benchShot {
		var said agent.Wire
		return benchShot{
			prepare: b.forgetGates(e),
			run: func(ctx context.Context) (err error) {
				said, err = b.start(ctx, argv, e.data)
				return err
			},
			check: func(bool) error {
				switch {
				case e.speaks == nil:
					return e.printed(said)
				case how == wayGate:
					b.asked.Add(1)
				}
				return e.heard(said, how)
			},
		}
	}}
}

// printed holds a Decision that hookc run printed against the first.
func (e *benchEvent) printed(w agent.Wire) error {
	v, err := policy.DecodeJSON(w.Stdout)
	got, ok := v.(map[string]any)
	if err != nil || !ok {
		return errDiffer(e, wayRun, heard(w).String())
	}
	for _, key := range []string{"action", "verdict", "by", "reasons", "feedback", "patch"} {
		if text := differences(map[string]any{key: e.same[key]}, got); len(text) > 0 {
			return errDiffer(e, wayRun, strings.Join(text, "; "))
		}
	}
	return nil
}

// trivial is the floor: a program that does nothing, started as the others
// are. nil where there is none.
func (b *bencher) trivial() *benchCase {
	path, err := exec.LookPath("true")
	if err != nil {
		b.note("no floor: there is no program called true")
		return nil
	}
	return &benchCase{how: wayFloor, shot: func() benchShot {
		return benchShot{
			run: func(ctx context.Context) error {
				_, err := b.start(ctx, []string{path}, nil)
				return err
			},
			check: func(bool) error { return nil },
		}
	}}
}

// endWait is how long a program may take to end once it has been told to.
const endWait = 2 * time.Second

// start runs a program with an event on stdin and returns what it said. It is
// in a session of its own: Ctrl-C is for bench, which ends it.
func (b *bencher) start(ctx context.Context, argv []string, stdin []byte) (agent.Wire, error) {
	cmd := b.command(ctx, argv)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return agent.Wire{}, cannot("%s: %v", argv[0], err)
	}
	if code := cmd.ProcessState.ExitCode(); code < 0 && ctx.Err() == nil {
		return agent.Wire{}, cannot("%s ended: %v", argv[0], err)
	}
	return agent.Wire{Stdout: stdout.Bytes(), Stderr: stderr.String(), Exit: cmd.ProcessState.ExitCode()}, nil
}

func (b *bencher) command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.dir, b.environ, endWait
	detach(cmd)
	cmd.Cancel = func() error {
		if runtime.GOOS == "windows" || cmd.Process.Signal(syscall.SIGTERM) != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd
}

// benchHome makes the folder of a benchmark. A socket's name is short, and
// that of the folder for temporary files may not be.
func benchHome() (string, error) {
	parent := ""
	if len(os.TempDir())+len("/hookc-bench-"+strconv.Itoa(1<<32)+"/s.sock.lock") > 100 && runtime.GOOS != "windows" {
		parent = "/tmp"
	}
	return os.MkdirTemp(parent, "hookc-bench-")
}

// benchState is the state folder of a benchmark.
func benchState(home string) string { return filepath.Join(home, "state") }

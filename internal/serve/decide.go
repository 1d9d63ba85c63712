//go:build unix

package serve

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// decide answers one event. A caller that goes away takes its event along.
func (v *server) decide(ctx context.Context, conn *net.UnixConn, who peer, r *wire.Request) {
	v.last.Store(int64(time.Since(v.start)))
	v.active.Add(1)
	defer v.active.Add(-1)
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.Millis)*time.Millisecond)
	defer cancel()
	a := v.attending.begin(conn, cancel)
	reply, err := v.reply(withAttendance(ctx, a), who, r)
	over := ctx.Err() // before the watch ends, which cancels
	v.attending.end(a)
	switch {
	case over != nil: // nobody waits any more
		v.broken.Add(1)
	case err != nil:
		v.refused.Add(1)
		v.write(conn, &wire.Reply{Refused: err.Error()})
	default:
		v.answered.Add(1)
		v.took.add(time.Since(began))
		v.write(conn, reply)
	}
}

// reply is what hookc run would answer in the caller's place; the error says
// why that is not known here.
func (v *server) reply(ctx context.Context, who peer, r *wire.Request) (*wire.Reply, error) {
	from := &decide.Caller{Dir: r.Dir, Environ: r.Environ}
	if err := v.foreign(who, r, from); err != nil {
		return nil, err
	}
	name, ok := decide.DialectOf(r.Args)
	if !ok {
		return nil, errors.New("it is not run --dialect")
	}
	d, err := agent.Find(name)
	if err != nil {
		return nil, err
	}
	words, err := v.words.of(ctx, from, r.Args)
	if err != nil {
		return nil, err
	}
	if len(r.Input) > decide.MaxInput {
		return nil, errors.New("the event is too large")
	}
	var back error
	w := decide.Answer(d, r.Input, nil, words.event, from.Getenv, func(s *decide.Speaker) (string, error) {
		if words.err != nil {
			return "", words.err
		}
		log, err := v.carry(decide.WithCaller(ctx, from), who, s, words)
		var b decide.HandBack
		if errors.As(err, &b) {
			back = err
		}
		return log, err
	})
	if back != nil {
		return nil, back
	}
	return &wire.Reply{Stdout: w.Stdout, Stderr: []byte(w.Stderr), Exit: w.Exit}, nil
}

// carry is speaker.decide and sources.decide with a plan that is kept.
func (v *server) carry(ctx context.Context, who peer, s *decide.Speaker, words *wording) (log string, err error) {
	in, from := s.Call.Context, decide.CallerOf(ctx)
	if !in.Has(policy.FieldCwd) {
		in.Set(policy.FieldCwd, from.Dir)
	}
	project := ""
	s.Decision, err = decide.WithAhead(s.Call, func(e decide.Subject) (d *policy.Decision, err error) {
		project = e.Project
		return decide.Logged(ctx, &v.log, e, s.Call.Agent(), words.src.Log || v.logs, func(e decide.Subject) (*policy.Decision, error) {
			d, note, err := v.fire(ctx, who, e.Asking(from, s.Call, nil), words)
			if log == "" {
				log = note
			}
			if err == nil {
				d = words.src.Server.Decide(ctx, e.Event, e.In, d)
			}
			return d, err
		})
	})
	if err == nil {
		v.seen.Add(project, s.Call.Agent(), s.Call.Native())
	}
	return log, err
}

// fire decides an event with a plan that is kept.
func (v *server) fire(ctx context.Context, who peer, e decide.Subject, words *wording) (d *policy.Decision, note string, err error) {
	from := decide.CallerOf(ctx)
	for range 3 { // a plan may be retired between finding and using it
		r, note, err := v.plans.of(ctx, &wanted{who: who, from: from, words: words, event: e.Event, project: e.Project, around: e.Around, path: v.home.get("PATH"), eyes: v.eyes})
		if err != nil {
			return nil, "", err
		}
		if r.processes {
			attendanceOf(ctx).soon()
		}
		d, err := e.Under(r.eng.Program()).Fire(runner.WithEnviron(r.memory.Counting(ctx, e.Around), from.Environ), r.eng, words.serial)
		if errors.Is(err, hookc.ErrClosed) {
			continue
		}
		if err != nil {
			return nil, "", exit.Cannot("%v", err)
		}
		r.fired()
		d.Warnings = append(append(d.Warnings, r.memory.Warnings()...), words.src.Warnings()...)
		return d, note, nil
	}
	return nil, "", decide.HandBack("the plan changes all the time")
}

// foreign says what of the caller cannot be honoured here.
func (v *server) foreign(who peer, r *wire.Request, from *decide.Caller) error {
	switch {
	case r.Build != "" && r.Build != v.build:
		return decide.HandBack("the caller is of another hookc")
	case r.Umask != v.umask:
		return decide.HandBack("the caller has another umask")
	case from.Getenv(decide.CanaryEnv) != "":
		return decide.HandBack("doctor tries the whole way")
	}
	if why := v.home.differs(from.Environ); why != "" {
		return decide.HandBack(why)
	}
	if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
		return decide.HandBack("the caller's folder cannot be found")
	}
	return who.elsewhere
}

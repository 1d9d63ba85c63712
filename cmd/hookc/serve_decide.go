//go:build unix

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
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
	from := &caller{dir: r.Dir, environ: r.Environ}
	if err := v.foreign(who, r, from); err != nil {
		return nil, err
	}
	name, ok := spoken(r.Args)
	if !ok {
		return nil, errors.New("it is not run --dialect")
	}
	d, err := agent.Find(name)
	if err != nil {
		return nil, err
	}
	said, err := v.words.of(ctx, from, r.Args)
	if err != nil {
		return nil, err
	}
	if len(r.Input) > maxInput {
		return nil, errors.New("the event is too large")
	}
	var back error
	w := answer(d, r.Input, nil, said.event, from.getenv, func(s *speaker) (string, error) {
		if said.err != nil {
			return "", said.err
		}
		log, err := v.carry(withCaller(ctx, from), who, s, said)
		var b handBack
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
func (v *server) carry(ctx context.Context, who peer, s *speaker, said *wording) (log string, err error) {
	in, from := s.call.Context, callerOf(ctx)
	if !in.Has(policy.FieldCwd) {
		in.Set(policy.FieldCwd, from.dir)
	}
	project := ""
	s.decision, err = withAhead(s.call, func(e subject) (d *policy.Decision, err error) {
		project = e.project
		return logged(ctx, &v.log, e, s.call.Agent(), func(e subject) (*policy.Decision, error) {
			d, note, err := v.fire(ctx, who, e, said)
			if log == "" {
				log = note
			}
			return d, err
		})
	})
	if err == nil {
		v.seen.Add(project, s.call.Agent(), s.call.Native())
	}
	return log, err
}

// fire decides an event with a plan that is kept.
func (v *server) fire(ctx context.Context, who peer, e subject, said *wording) (d *policy.Decision, note string, err error) {
	from := callerOf(ctx)
	for range 3 { // a plan may be retired between finding and using it
		r, note, err := v.plans.of(ctx, &wanted{who: who, from: from, said: said, event: e.event, project: e.project, around: e.around, path: v.home.get("PATH"), eyes: v.eyes})
		if err != nil {
			return nil, "", err
		}
		if r.processes {
			attendanceOf(ctx).soon()
		}
		d, err := e.fire(runner.WithEnviron(r.memory.Counting(ctx), from.environ), r.eng, said.serial)
		if errors.Is(err, hookc.ErrClosed) {
			continue
		}
		if err != nil {
			return nil, "", cannot("%v", err)
		}
		r.fired()
		d.Warnings = append(append(d.Warnings, r.memory.Warnings()...), said.src.warnings()...)
		return d, note, nil
	}
	return nil, "", handBack{"the plan changes all the time"}
}

// foreign says what of the caller cannot be honoured here.
func (v *server) foreign(who peer, r *wire.Request, from *caller) error {
	switch {
	case r.Build != "" && r.Build != v.build:
		return handBack{"the caller is of another hookc"}
	case r.Umask != v.umask:
		return handBack{"the caller has another umask"}
	case from.getenv(canaryEnv) != "":
		return handBack{"doctor tries the whole way"}
	}
	if why := v.home.differs(from.environ); why != "" {
		return handBack{why}
	}
	if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
		return handBack{"the caller's folder cannot be found"}
	}
	return who.elsewhere
}

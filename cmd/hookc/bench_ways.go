package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// try decides an event once, all of the answer compared, and makes a case of it.
func (b *bencher) try(e *benchEvent) error {
	if left := e.concerned(); len(left) > 0 {
		e.note("left out: %s", e.because(left))
	}
	c := &benchCase{event: e, shot: func() benchShot { return b.inProcess(e) }}
	r, err := b.round(c, limits{runs: 1}, 1)
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
			if err := e.check(d, howInProcess, all); err != nil {
				return err
			}
			return e.heard(said)
		},
	}
}

// heard holds an answer in an agent's words against the first.
func (e *benchEvent) heard(w agent.Wire) error {
	if e.wire == nil {
		e.wire = &w
	}
	if w.Exit == e.wire.Exit && w.Stderr == e.wire.Stderr && bytes.Equal(w.Stdout, e.wire.Stdout) {
		return nil
	}
	return errDiffer(e, howInProcess, fmt.Sprintf("want %s; got %s", heard(*e.wire), heard(w)))
}

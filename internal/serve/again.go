//go:build unix

package serve

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"weak"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
)

// anewAfter is the age at which a plan is made of nothing, although what it
// keeps from reload to reload makes that the same: it bounds how long anything
// that a file's looks do not show can go unnoticed.
const anewAfter = 10 * time.Minute

// tally counts the events of a plan and of those that succeeded it on its
// engine.
type tally struct {
	events atomic.Int64
	dirty  atomic.Bool
	saved  atomic.Bool
}

// next is the successor of a plan, or the first one: brought up to date where
// that is possible, made of nothing else.
func (s *slot) next(ctx context.Context, p *plans, now *resident) (*resident, error) {
	if now == nil || now.memory.Trouble() != nil || time.Since(now.built) > anewAfter {
		return s.want.build(ctx, p.readings(&s.want))
	}
	if s.compiled() {
		return s.want.build(ctx, p.readings(&s.want))
	}
	began := time.Now()
	if err := decide.OpenError(ctx, now.eng.Reload(decide.WithCaller(ctx, s.want.from))); err != nil {
		return nil, err
	}
	next := &resident{tally: now.tally, eng: now.eng, memory: now.memory, done: now.done, readings: now.readings, built: now.built}
	next.describe(&s.want, began)
	return next, nil
}

// compiled reports whether the policy is a compiled one, or cannot be told.
func (s *slot) compiled() bool {
	compiled, err := s.want.words.src.CompiledPolicy(s.want.from, nil)
	return compiled != "" || err != nil
}

// readings is what the plans of one policy, one for each event, share of what
// is read. It is forgotten with the last of them.
func (p *plans) readings(w *wanted) *hookc.Readings {
	all := *w
	all.event = ""
	key := strconv.FormatBool(w.words.src.Verify) + all.key()
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.read[key].Value(); r != nil {
		return r
	}
	if len(p.read) > maxPlans {
		for k, at := range p.read {
			if at.Value() == nil {
				delete(p.read, k)
			}
		}
	}
	r := &hookc.Readings{}
	p.read[strings.Clone(key)] = weak.Make(r)
	return r
}

// describe says what a plan is that began to be made at a time.
func (r *resident) describe(w *wanted, began time.Time) {
	program := r.eng.Program()
	r.policy, r.since, r.warnings, r.sources = program.Hash, began, len(program.Warnings), program.Sources
	for _, e := range program.Hooks {
		if e.Hook.Event != w.event {
			continue
		}
		r.hooks++
		r.processes = r.processes || !e.Hook.Kind.InProcess()
	}
	src := w.words.src
	r.files = take(watched(&src, w, program), began)
	r.files.texts = texts(program)
}

package executor

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// Memo keeps answers of the duplicate guard, and facts, beyond this process. Keys are
// digests; values mean something to the same program only. It must be safe for
// concurrent use and may forget.
type Memo interface {
	Load(key string) ([]byte, bool)
	Save(key string, value []byte)
}

// guardKey identifies a call that must not be decided twice: program, session,
// call, event and arguments (semantics.md §5.4). It is "" where nothing is
// memoised: the call has no id, or the plan remembers nothing. The compiler's
// pass project knows what it reads.
func guardKey(prog *dag.Program, plan *dag.Plan, in *policy.Context) string {
	id := in.Text(policy.FieldToolUseID)
	if id == "" || !plan.Memoised() {
		return ""
	}
	var input any // where a repeated call goes through, its arguments do not matter
	if !plan.Strategy.Rules.PassRepeats {
		input, _ = in.Get(policy.FieldToolInput)
	}
	text, err := policy.EncodeJSON(input)
	if err != nil {
		return "" // a host's value that is not JSON has no identity
	}
	parts, err := policy.EncodeJSON([]string{prog.Hash, in.Text(policy.FieldSessionID), id, string(plan.Event), string(text)})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(parts)
	return hex.EncodeToString(sum[:])
}

// lasting reports whether a plan's answer may be given again: of a plan whose
// repeated calls go through, whether any hook was asked.
func (a *Answer) lasting(plan *dag.Plan) bool {
	if plan.Strategy.Rules.PassRepeats {
		asked := func(t policy.HookTrace) bool { return t.Status == policy.StatusRan || t.Status == policy.StatusFailed }
		return !a.Result.Void() && slices.ContainsFunc(a.Hooks, asked)
	}
	return len(a.Result.Failed) == 0
}

// again is what a plan answers to a repeated call.
func (a *Answer) again(plan *dag.Plan) *Answer {
	if plan.Strategy.Rules.PassRepeats {
		return &Answer{Hooks: blankTrace(plan)}
	}
	return a
}

// clone is a with a trace of its own.
func (a *Answer) clone() *Answer { return &Answer{Result: a.Result, Hooks: lists.Copy(a.Hooks)} }

// guard remembers the last answers and lets concurrent repeats share one run.
type guard struct {
	size  int
	memo  Memo
	codec *codec

	mu      sync.Mutex
	order   *list.List // of *remembered, most recently used first
	known   map[string]*list.Element
	flights map[string]*flight
}

type remembered struct {
	key    string
	answer *Answer
}

// flight is a run under way; answer is nil if it came to nothing.
type flight struct {
	landed chan struct{}
	answer *Answer
}

func newGuard(prog *dag.Program, size int, memo Memo) *guard {
	return &guard{size: size, memo: memo, codec: newCodec(prog), order: list.New(),
		known: map[string]*list.Element{}, flights: map[string]*flight{}}
}

// recall returns the answer given before, if it is still known.
func (g *guard) recall(key string) (*Answer, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.recallLocked(key)
}

func (g *guard) recallLocked(key string) (*Answer, bool) {
	if e, ok := g.known[key]; ok {
		g.order.MoveToFront(e)
		a := e.Value.(*remembered).answer
		return a.clone(), true
	}
	if g.memo == nil {
		return nil, false
	}
	data, ok := g.memo.Load(key)
	if !ok {
		return nil, false
	}
	a, err := g.codec.decode(data)
	return a, err == nil // what cannot be read is not known: the chain runs
}

// keep remembers a lasting answer.
func (g *guard) keep(key string, a *Answer) {
	a = a.clone()
	if g.memo != nil {
		if data, err := g.codec.encode(a); err == nil {
			g.memo.Save(key, data)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if e, ok := g.known[key]; ok {
		e.Value.(*remembered).answer = a
		g.order.MoveToFront(e)
		return
	}
	g.known[key] = g.order.PushFront(&remembered{key, a})
	for g.order.Len() > g.size {
		last := g.order.Remove(g.order.Back()).(*remembered)
		delete(g.known, last.key)
	}
}

// board returns what is known, or a flight: one's own to fly, or another's to
// wait for.
func (g *guard) board(key string) (a *Answer, f *flight, own bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a, ok := g.recallLocked(key); ok {
		return a, nil, false
	}
	if f, ok := g.flights[key]; ok {
		return nil, f, false
	}
	f = &flight{landed: make(chan struct{})}
	g.flights[key] = f
	return nil, f, true
}

// land ends one's own flight with the answer, or nil.
func (g *guard) land(plan *dag.Plan, key string, f *flight, a *Answer) {
	if a != nil && a.lasting(plan) {
		g.keep(key, a)
	}
	g.mu.Lock()
	delete(g.flights, key)
	g.mu.Unlock()
	f.answer = a
	close(f.landed)
}

// guarded fires a plan, or gives again the answer that a repeated call got.
func (x *Executor) guarded(ctx context.Context, w *schedule, in *policy.Context) *policy.Decision {
	key := guardKey(x.prog, w.plan, in)
	if key == "" {
		d, _ := x.decided(ctx, w, in)
		return d
	}
	for {
		a, f, own := x.guard.board(key)
		if own {
			return x.flown(ctx, w, in, key, f)
		}
		if f != nil {
			select {
			case <-f.landed:
				a = f.answer
			case <-ctx.Done():
				return x.cancelled(w.plan.Event, in, nil)
			}
		}
		if a != nil {
			a = a.again(w.plan)
			return decide(x.prog, w.plan, in, in.With(a.Result.Patch), a.clone())
		}
		// The other's run was cancelled, which is not an answer: run it.
	}
}

// flown makes the run that concurrent repeats wait for; they are told even if
// it panics.
func (x *Executor) flown(ctx context.Context, w *schedule, in *policy.Context, key string, f *flight) *policy.Decision {
	var kept *Answer
	defer func() { x.guard.land(w.plan, key, f, kept) }()
	d, a := x.decided(ctx, w, in)
	if a != nil {
		kept = a.clone() // the caller may change what it is given
	}
	return d
}

// decided runs a plan; the answer is nil when ctx ended first.
func (x *Executor) decided(ctx context.Context, w *schedule, in *policy.Context) (*policy.Decision, *Answer) {
	a, after, ok := x.run(ctx, w, in)
	if !ok {
		return x.cancelled(w.plan.Event, in, a.Hooks), nil
	}
	return decide(x.prog, w.plan, in, after, a), a
}

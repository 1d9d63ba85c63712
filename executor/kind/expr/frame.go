package expr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hookc/hookc/policy"
)

// evalFunc is one node of an expression as a closure. It returns a value or
// undefined; a type error and an exhausted budget leave by panic, which
// exprHook.Run turns into a *policy.HookError.
type evalFunc func(f *frame) any

// frame is the state of one evaluation. Frames are pooled; one is used by one
// goroutine at a time.
type frame struct {
	ctx    context.Context
	in     *policy.Context
	budget time.Duration
	// vars are the values bound with let, scopes the state of the loops, each
	// in the place the compiler gave it.
	vars   []any
	scopes []loopScope
	// whole is $env as an object, made when first asked for.
	whole map[string]any
	// formula is the expression being evaluated, at the place in it, counted
	// in characters, where something that can fail is done.
	formula *formula
	at      int

	steps  int
	memory int
	// looked is when the clock was last looked at, used the time charged by then.
	looked time.Time
	used   time.Duration
}

// loopScope is where a loop over a list stands.
type loopScope struct {
	item, acc any
	index     int
}

var frames = sync.Pool{New: func() any { return new(frame) }}

func newFrame(ctx context.Context, in *policy.Context, budget time.Duration, vars, scopes int) *frame {
	f := frames.Get().(*frame)
	f.ctx, f.in, f.budget = ctx, in, budget
	if vars > len(f.vars) {
		f.vars = make([]any, vars)
	}
	if scopes > len(f.scopes) {
		f.scopes = make([]loopScope, scopes)
	}
	return f
}

// release gives the frame back without anything that belongs to the event. Most
// evaluations leave most of it as it was, and writing it again would be a good
// part of what a rule costs.
func (f *frame) release() {
	clear(f.vars)
	clear(f.scopes)
	f.ctx, f.in, f.formula = nil, nil, nil
	f.at, f.steps, f.memory = 0, 0, 0
	if f.whole != nil {
		f.whole = nil
	}
	if !f.looked.IsZero() {
		f.looked, f.used = time.Time{}, 0
	}
	frames.Put(f)
}

// evalFailure is what an evaluation leaves with.
type evalFailure struct {
	kind policy.ErrKind
	text string
}

//go:noinline
func (f *frame) fail(at int, format string, args ...any) {
	f.at = at
	panic(evalFailure{policy.ErrEval, fmt.Sprintf(format, args...)})
}

// failure is a recovered panic as the hook's failure, at its place in the
// policy. Panics of the expr library are type errors of the expression.
func (f *frame) failure(panicked any) *policy.HookError {
	kind, text := policy.ErrEval, ""
	var cause error
	switch p := panicked.(type) {
	case evalFailure:
		kind, text = p.kind, p.text
	case error:
		text, cause = p.Error(), p
	default:
		text = fmt.Sprint(p)
	}
	text = strings.TrimPrefix(text, "runtime error: ")
	e := &policy.HookError{Kind: kind, Text: text, Err: cause}
	if f.formula != nil {
		e.Text = f.formula.what + ": " + text
		e.At = f.formula.span(f.at)
	}
	return e
}

// checkEvery is how many steps pass between looks at the clock.
const checkEvery = 256

// stall is the part of the budget that a stretch between two looks uses up at
// most: more of it is time in which a busy machine did not let the rule work.
const stall = 10

// tick counts a step of a loop and, now and then, looks at the clock. Only
// loops can take long: all else is bounded by the length of the text.
func (f *frame) tick() {
	f.steps++
	if f.steps%checkEvery == 0 {
		f.checkTime()
	}
}

func (f *frame) checkTime() {
	if err := f.ctx.Err(); err != nil {
		kind := policy.ErrEval
		if errors.Is(err, context.DeadlineExceeded) {
			kind = policy.ErrTimeout
		}
		panic(evalFailure{kind, err.Error()})
	}
	now := time.Now()
	if !f.looked.IsZero() {
		f.used += min(now.Sub(f.looked), f.budget/stall)
	}
	f.looked = now
	if f.used > f.budget {
		panic(evalFailure{policy.ErrBudget, fmt.Sprintf("took longer than %v", f.budget)})
	}
}

// memoryBudget bounds the memory the values of one evaluation take, in bytes.
const memoryBudget = 64 << 20

// wordSize is what an element of a list takes, in bytes.
const wordSize = 16

// grow counts bytes about to be used.
func (f *frame) grow(bytes int) {
	if bytes < 0 || bytes > memoryBudget-f.memory {
		panic(evalFailure{policy.ErrBudget, fmt.Sprintf("needs more than %d MiB of memory", memoryBudget>>20)})
	}
	f.memory += bytes
}

// environment is $env: every field that is present.
func (f *frame) environment() map[string]any {
	if f.whole == nil {
		f.whole = f.in.Map()
	}
	return f.whole
}

package executor

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/policy"
)

// budget is the context of one in-process evaluation: its caller's, ending
// when the node's step budget is spent. Most rules never ask whether they must
// stop, so a timer is made only for those that do, and nothing is locked.
type budget struct {
	context.Context
	// The budget is spent limit after start, which is by clock.
	start, limit time.Duration
	// at is when the evaluation began, after start. unread is true when that is
	// a little too early: the clock was not looked at. It begins then when it is
	// first asked for; only bodies on the caller's goroutine have such a budget.
	at     time.Duration
	unread bool
	// used is what was charged at Err of the time before it last looked at the
	// clock, last, which is since start; 0 before it did.
	last, used atomic.Int64
	// aware is true once the body knows when the budget is spent on the clock.
	aware atomic.Bool
	timed atomic.Pointer[timed]
	// delivered is true once Err has said that the budget is spent.
	delivered atomic.Bool
}

const (
	// stall is the part of the budget that a stretch between two looks uses up at
	// most. A body that asks is at work and asks often: most of a long stretch is
	// time in which a busy machine did not let it, and no guard must deny for that.
	stall = 10
	// patience is how many budgets may pass on the clock, whatever was done.
	patience = 10
)

func newBudget(ctx context.Context, start time.Duration) *budget {
	return &budget{Context: ctx, start: start}
}

type timed struct {
	context.Context
	cancel context.CancelFunc
}

// Deadline is when the budget is spent, or the caller's deadline if earlier.
func (b *budget) Deadline() (time.Time, bool) {
	until := b.until()
	b.aware.Store(true)
	if d, ok := b.Context.Deadline(); ok && d.Before(until) {
		return d, true
	}
	return until, true
}

// until is when the budget is spent.
func (b *budget) until() time.Time { return time.Now().Add(b.start + b.limit - clock()) }

// Done is closed when the budget is spent, the caller's context ends or the
// evaluation returns.
func (b *budget) Done() <-chan struct{} {
	if t := b.timed.Load(); t != nil {
		return t.Done()
	}
	ctx, cancel := context.WithDeadline(b.Context, b.until())
	t := &timed{ctx, cancel}
	if !b.timed.CompareAndSwap(nil, t) {
		cancel()
		t = b.timed.Load()
	}
	return t.Done()
}

// Err is why the context is over, or nil.
func (b *budget) Err() error {
	if err := b.Context.Err(); err != nil {
		return err
	}
	if t := b.timed.Load(); t != nil {
		if err := t.Err(); err != nil {
			return err
		}
	}
	if b.charge() {
		b.delivered.Store(true)
		return context.DeadlineExceeded
	}
	return nil
}

// ended reports whether a body that returned err, or nil, ran out of time: it
// was told that its time is up, or says so. What it answers once it was told
// counts for nothing, as it may be half an answer. A body that never asks is
// not stopped, and its answer holds; one that fails for another reason on a
// machine so busy that meanwhile its time has passed fails for that reason.
func (b *budget) ended(err error) bool {
	if t := b.timed.Load(); b.delivered.Load() || t != nil && t.Err() != nil {
		return true
	}
	return err != nil && b.spent() && (policy.KindOf(err).Late() ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded))
}

// asked reports whether a body has asked for Done, and may still hold on to b,
// or was told that b is spent: b is then not to be used again.
func (b *budget) asked() bool { return b.timed.Load() != nil || b.aware.Load() || b.delivered.Load() }

// spent reports whether the budget has passed on the clock.
func (b *budget) spent() bool { return b.now() >= b.limit }

// now is the time since start.
func (b *budget) now() time.Duration {
	now := clock() - b.start
	if b.unread {
		b.limit, b.at, b.unread = b.limit+now-b.at, now, false
	}
	return now
}

// charge uses up the time since the last look, and reports whether nothing is
// left.
func (b *budget) charge() bool {
	now := b.now()
	last, whole := time.Duration(b.last.Swap(int64(now))), b.limit-b.at
	used := b.used.Add(int64(min(now-max(last, b.at), whole/stall)))
	return time.Duration(used) >= whole || now >= b.at+patience*whole || b.aware.Load() && now >= b.limit
}

// begin gives a body all of a budget, from so much time after start on.
func (b *budget) begin(at, limit time.Duration, unread bool) {
	b.at, b.limit, b.unread = at, at+limit, unread
	if b.used.Load() != 0 { // a write costs more
		b.used.Store(0)
	}
}

// close ends the evaluation and frees its timer, if it has one.
func (b *budget) close() {
	if t := b.timed.Load(); t != nil {
		t.cancel()
	}
}

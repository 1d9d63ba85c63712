package executor

import (
	"context"
	"sync/atomic"
	"time"
)

// budget is the context of one in-process evaluation: its caller's, ending
// when the node's step budget is spent. Most rules never ask whether they must
// stop, so a timer is made only for those that do, and nothing is locked.
type budget struct {
	context.Context
	until time.Time
	timed atomic.Pointer[timed]
}

type timed struct {
	context.Context
	cancel context.CancelFunc
}

// ended stands for the timer of an evaluation that has returned: a body that
// kept its context finds it over.
var ended = func() *timed {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &timed{ctx, cancel}
}()

// Deadline is when the budget is spent, or the caller's deadline if earlier.
func (b *budget) Deadline() (time.Time, bool) {
	if d, ok := b.Context.Deadline(); ok && d.Before(b.until) {
		return d, true
	}
	return b.until, true
}

// Done is closed when the budget is spent or the caller's context ends.
func (b *budget) Done() <-chan struct{} {
	if t := b.timed.Load(); t != nil {
		return t.Done()
	}
	ctx, cancel := context.WithDeadline(b.Context, b.until)
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
	if b.timed.Load() == ended {
		return context.Canceled
	}
	if b.spent() {
		return context.DeadlineExceeded
	}
	return nil
}

func (b *budget) spent() bool { return !time.Now().Before(b.until) }

// close ends the evaluation and frees its timer.
func (b *budget) close() {
	if t := b.timed.Swap(ended); t != nil {
		t.cancel()
	}
}

package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// limited is a request's context until a time. It costs a timer only where somebody
// waits for its end: rules that are decided in place ask now and then whether it is over.
type limited struct {
	context.Context
	until time.Time
	ended atomic.Bool
	mu    sync.Mutex
	timed context.Context // where somebody waits
	stop  context.CancelFunc
}

// limited is the context in which a request's events are decided.
func (s *Server) limited(ctx context.Context) *limited {
	return &limited{Context: ctx, until: time.Now().Add(s.limits.Decide)}
}

// Deadline is until, or the request's own where that is earlier.
func (l *limited) Deadline() (time.Time, bool) {
	if own, ok := l.Context.Deadline(); ok && own.Before(l.until) {
		return own, true
	}
	return l.until, true
}

// Done is closed when the time is over, or the request.
func (l *limited) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timed == nil {
		l.timed, l.stop = context.WithDeadline(l.Context, l.until)
		if l.ended.Load() {
			l.stop()
		}
	}
	return l.timed.Done()
}

// Err is why it is over, or nil.
func (l *limited) Err() error {
	switch err := l.Context.Err(); {
	case err != nil:
		return err
	case l.ended.Load():
		return context.Canceled
	case !time.Now().Before(l.until):
		return context.DeadlineExceeded
	}
	return nil
}

// cancel ends it with its request.
func (l *limited) cancel() {
	l.ended.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
}

package executor

import (
	"sync"
	"time"
)

// owned counts the goroutines someone must wait for. Unlike a WaitGroup it may
// grow again while it is being waited for.
type owned struct {
	mu   sync.Mutex
	n    int
	none chan struct{}
}

// add counts one more.
func (o *owned) add() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 {
		o.none = make(chan struct{})
	}
	o.n++
}

// done counts one less.
func (o *owned) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 {
		close(o.none)
	}
}

// idle is closed when nothing is left.
func (o *owned) idle() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.none == nil {
		o.none = make(chan struct{})
		close(o.none)
	}
	return o.none
}

// wait returns when nothing is left.
func (o *owned) wait() { <-o.idle() }

// within waits for at most d and reports whether nothing is left.
func (o *owned) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-o.idle():
		return true
	case <-t.C:
		return false
	}
}

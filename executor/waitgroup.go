package executor

import (
	"sync"
	"time"
)

// growingGroup counts the goroutines that someone must wait for. Unlike a
// sync.WaitGroup it may grow again while it is being waited for.
type growingGroup struct {
	mu   sync.Mutex
	n    int
	none chan struct{}
}

// add counts one more.
func (o *growingGroup) add() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 {
		o.none = make(chan struct{})
	}
	o.n++
}

// done counts one less.
func (o *growingGroup) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 {
		close(o.none)
	}
}

// idle is closed when nothing is left.
func (o *growingGroup) idle() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.none == nil {
		o.none = make(chan struct{})
		close(o.none)
	}
	return o.none
}

// wait returns when nothing is left.
func (o *growingGroup) wait() { <-o.idle() }

// within waits for at most d and reports whether nothing is left.
func (o *growingGroup) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-o.idle():
		return true
	case <-t.C:
		return false
	}
}

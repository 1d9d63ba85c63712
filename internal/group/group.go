// Package group waits for goroutines.
package group

import (
	"sync"
	"time"
)

// Growing counts the goroutines that someone must wait for. Unlike a
// sync.WaitGroup it may grow again while it is being waited for. The zero
// Growing is ready; it is safe for concurrent use.
type Growing struct {
	mu   sync.Mutex
	n    int
	none chan struct{}
}

// Add counts one more.
func (o *Growing) Add() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 {
		o.none = make(chan struct{})
	}
	o.n++
}

// Done counts one less.
func (o *Growing) Done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 {
		close(o.none)
	}
}

// Idle is closed when nothing is left.
func (o *Growing) Idle() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.none == nil {
		o.none = make(chan struct{})
		close(o.none)
	}
	return o.none
}

// Wait returns when nothing is left.
func (o *Growing) Wait() { <-o.Idle() }

// Within waits for at most d and reports whether nothing is left.
func (o *Growing) Within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-o.Idle():
		return true
	case <-t.C:
		return false
	}
}

// Package lazy makes values when they are first asked for.
package lazy

import (
	"sync"
	"sync/atomic"
)

// Value is [sync.OnceValue] in few functions: it is made for some forty types.
//
//go:noinline
func Value[T any](f func() T) func() T {
	var v T
	var made atomic.Bool
	fill := once(func() {
		v = f()
		made.Store(true)
	})
	return func() T {
		if !made.Load() {
			fill()
		}
		return v
	}
}

//go:noinline
func once(f func()) func() { return sync.OnceFunc(f) }

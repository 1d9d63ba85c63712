// Package lazy makes values when they are first asked for.
package lazy

import "sync"

// Value is [sync.OnceValue], kept out of line: inlined it leaves three functions of its
// own with each of its hundred callers.
//
//go:noinline
func Value[T any](f func() T) func() T { return sync.OnceValue(f) }

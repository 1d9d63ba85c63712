//go:build race

package rego

// unpooled is how many allocations the race detector adds to an evaluation: it
// makes sync.Pool forget at random what was put into it, and the compiler keep
// less on the stack.
const unpooled = 4

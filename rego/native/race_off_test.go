//go:build !race

package native

// unpooled is how many allocations the race detector adds to an evaluation.
const unpooled = 0

//go:build !race

package bench

// unpooled is how many allocations a firing may make for want of what was kept
// for it.
const unpooled = 0

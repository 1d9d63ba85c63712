//go:build race

package bench

// unpooled is what the race detector costs a firing: it makes sync.Pool forget
// at random what was put into it, so that what is kept for the next event is
// made anew.
const unpooled = 4

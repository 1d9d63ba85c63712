//go:build race

package tests

// thorough is how many times over what is generated is tried: the race detector
// makes it ten times as dear, and finds nothing in the tenth policy that it did
// not in the first.
const thorough = 1

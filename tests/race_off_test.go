//go:build !race

package tests

// thorough is how many times over what is generated is tried.
const thorough = 4

//go:build topdown

package tests

const nativeBuilt = false

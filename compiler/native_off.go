//go:build topdown

package compiler

const nativeBuilt = false

//go:build !topdown

package compiler

// nativeBuilt is false in a hookc that is built with the tag topdown, whose Rego
// OPA alone evaluates: the whole suite is run both ways (CONTRIBUTING.md).
const nativeBuilt = true

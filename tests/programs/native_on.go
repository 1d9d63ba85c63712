//go:build !topdown

package programs

// Native says whether the programs can evaluate Rego without OPA.
const Native = true

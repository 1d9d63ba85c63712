// Package fault makes errors.
package fault

import "fmt"

// Errorf is fmt.Errorf, kept out of line: inlined it takes 80 bytes for each of its
// hundreds of callers.
//
//go:noinline
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

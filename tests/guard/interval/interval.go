// Package interval says what a share of some cases is worth.
package interval

import (
	"fmt"
	"math"
)

// Share is a share with the bounds in which it lies with a probability of 95 %:
// of few cases little can be said, and it shows.
func Share(hits, of int) string {
	if of == 0 {
		return "none"
	}
	low, high := Wilson(hits, of)
	return fmt.Sprintf("%.4f (%d of %d, 95 %% in %.3f to %.3f)", float64(hits)/float64(of), hits, of, low, high)
}

// Wilson are the bounds of Share.
func Wilson(hits, of int) (low, high float64) {
	const z = 1.96
	n, p := float64(max(1, of)), float64(hits)/float64(max(1, of))
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

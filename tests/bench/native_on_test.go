//go:build !topdown

package bench

import "testing"

// TestNativeAllowAllocatesNothing: nor does one that only Rego concerns that is
// native code.
func TestNativeAllowAllocatesNothing(t *testing.T) {
	t.Run("ten of twenty", func(t *testing.T) { allowAllocatesNothing(t, policyOf(regoRule, 20, 2)) })
	t.Run("one of twenty", func(t *testing.T) { allowAllocatesNothing(t, policyOf(regoRule, 20, 20)) })
}

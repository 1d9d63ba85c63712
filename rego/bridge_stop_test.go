package rego

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// One of OPA's functions that loops stops as soon as the evaluation that calls
// it does: natively too, where nothing else is asked between two statements.
func TestBridgedFunctionStops(t *testing.T) {
	for _, rule := range []string{
		`deny contains "all" if count(net.cidr_expand("10.0.0.0/20")) == 4096`,
		`deny contains "all" if count(numbers.range_step(1, 100000.0, 2)) > 0`,
	} {
		h := guard(rule)
		h.Timeout = time.Minute // a busy machine is no reason
		n, engine := compiled(t, h).Native()
		require.NotNil(t, n, engine)
		contribution, err := n.Run(t.Context(), bash("x"), 0)
		require.NoError(t, err, rule)
		require.Equal(t, policy.Deny, contribution.Verdict, rule)
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = n.Run(ended, bash("x"), 0)
		assert.Equal(t, policy.ErrDeadline, policy.KindOf(err), "%s: %v", rule, err)
	}
}

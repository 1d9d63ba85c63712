package rego

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// A number that takes OPA minutes to write out is a failure of the hook, on
// which its on_error decides, whichever engine comes upon it. One that can be
// computed with is none.
func TestLongNumbersFail(t *testing.T) {
	for _, condition := range []string{
		"input.tool_input.n > 5", "input.tool_input.n + 1 > 5", "input.tool_input.n - 1 > 5", "input.tool_input.n * 1000 > 5",
		"input.tool_input.n / 1000 > 5", "abs(input.tool_input.n) > 5", "round(input.tool_input.n) > 5",
		"ceil(input.tool_input.n) > 5", "floor(input.tool_input.n) > 5", "sum([input.tool_input.n, 1]) > 5",
		"product([input.tool_input.n, 2]) > 5", `format_int(input.tool_input.n, 10) != "5"`,
		"count({x | x := input.tool_input.n + input.tool_input.n}) == 1",
	} {
		h := guard("deny contains \"long\" if " + condition)
		h.Timeout = time.Minute // a busy machine is no reason
		m := compiled(t, h)
		n, engine := m.Native()
		require.NotNil(t, n, engine)
		for value, fails := range map[string]bool{
			"1e100000000": true, "-1E+100000000": true, "1e-100000000": true, "1e99999999999999999999": true,
			"123456": false, "1e400": false, "123456789012345678901234567890": false,
		} {
			in := call("Bash", nil).With(policy.Merge(policy.FieldToolInput, map[string]any{"n": json.Number(value)})) // Set refuses it
			for name, r := range map[string]policy.Runner{"topdown": m, "native": n} {
				contribution, err := r.Run(t.Context(), in, 0)
				what := fmt.Sprintf("%s of %s by %s", condition, value, name)
				if !fails {
					require.NoError(t, err, what)
					assert.Equal(t, policy.Deny, contribution.Verdict, what)
					continue
				}
				assert.Equal(t, policy.ErrBudget, policy.KindOf(err), what)
				assert.ErrorContains(t, err, "more than 30000 digits", what)
			}
		}
	}
}

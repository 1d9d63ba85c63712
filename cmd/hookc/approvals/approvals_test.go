package approvals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/approval"
)

// TestLineNamesAll: a line of the list shows what is to be done, or names what it leaves
// out: a call does not look like less than it is.
func TestLineNamesAll(t *testing.T) {
	for _, command := range []string{"ls", strings.Repeat("x", 500)} {
		var out strings.Builder
		a := &approval.Approval{Bound: approval.Bound{Rules: []string{"guard"}}, Call: approval.Call{Tool: "deploy",
			Input: map[string]any{"command": command, "run_as": "root", "script": "rm -rf /"}}}
		require.NoError(t, line(&out, a))
		for _, key := range []string{"run_as", "script"} {
			assert.Contains(t, out.String(), key)
		}
		assert.Equal(t, 1, strings.Count(out.String(), "\n"))
	}
}

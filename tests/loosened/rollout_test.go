package loosened

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/diff"
)

// TestRollouts: a weaker enforcement or a smaller share is a loosening, shown on an event
// of a session where it is one; a stronger one is none.
func TestRollouts(t *testing.T) {
	policy := func(words string) string {
		return "-- hooks.yaml --\npre_tool_execution:\n  - {name: first, deny: 'tool_input.command == \"a\"'}\n  - {name: g, deny: 'tool_input.command contains \"rm\"', reason: no" + words + "}\n"
	}
	steps := []string{", enforcement: dryrun", ", rollout: 0.5%", ", rollout: 25%", ", rollout: 60%, enforcement: enforce", ""}
	for i, a := range steps {
		for k, b := range append(steps, ", enforcement: warn") {
			old, _ := compiled(t, policy(a))
			now, _ := compiled(t, policy(b))
			r, err := diff.Compare(t.Context(), old, now, diff.Options{Prove: true, Events: 50})
			require.NoError(t, err)
			how := fmt.Sprintf("%q => %q: %s", a, b, r.Text())
			weaker := k < i || k == len(steps) && i > 0
			assert.Equal(t, weaker, len(r.Decisions) > 0 && r.Decisions[0].Direction == diff.Loosened, how)
			assert.Equal(t, k != i, len(r.Hooks) > 0, how)
		}
	}
}

//go:build unix

package hostile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
)

// Whatever a repository that nobody trusted holds, the user's own verdict
// arrives: not late, and not as a failure of hookc.
func TestUntrustedRepositoryHoldsNothingUp(t *testing.T) {
	t.Parallel()
	repos := Repos()
	require.GreaterOrEqual(t, len(repos), 60)
	worst, where := time.Duration(0), ""
	for i, r := range repos {
		t.Run(r.name, func(t *testing.T) {
			h := newHouse(t)
			require.NoError(t, r.make(h.project))
			for road, words := range roads(t) {
				if turn := map[string]int{"run": 0, "gate": 4}[road]; !depth.Tries(i+turn, 8) {
					continue // daily one of the two, or none, in turn
				}
				a := h.ask(t, removal, words...)
				assert.Equal(t, 2, a.code, "%s: %s%s", road, a.stdout, a.stderr)
				assert.Contains(t, a.stdout, refused, road)
				if a.took > worst {
					worst, where = a.took, road+", "+r.name
				}
			}
		})
	}
	t.Logf("%d repositories; worst time to a verdict: %s (%s)", len(repos), worst, where)
}

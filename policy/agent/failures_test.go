package agent

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// A hook that failed and let something through shows at every event of every
// agent: in the answer where the agent shows messages of hooks, else on stderr.
// The exception takes whatever is said for an answer.
func TestFailuresThatLetThroughAreSaid(t *testing.T) {
	kinds := []policy.ErrKind{policy.ErrSpawn, policy.ErrExit, policy.ErrSignal, policy.ErrTimeout, policy.ErrDeadline, policy.ErrBudget,
		policy.ErrParse, policy.ErrOversize, policy.ErrNetwork, policy.ErrEval, policy.ErrPanic}
	mute := map[string]bool{}
	for _, d := range All() {
		for i := range d.allPoints() {
			p := &d.allPoints()[i]
			for _, kind := range kinds {
				c := &Call{agent: d, point: p, Context: policy.NewContext(p.event)}
				w := c.Encode(&policy.Decision{Event: p.event, Action: policy.Proceed, Final: c.Context,
					Failed: []policy.Failure{{Hook: "guard-x", Kind: kind, Error: "boom", OnError: policy.OnErrorSkip}}})
				what := fmt.Sprintf("%s %s %s: %q %q %d", d.ID, p.name, kind, w.Stdout, w.Stderr, w.Exit)
				if p.silent {
					mute[d.ID+" "+p.name] = true
					require.Empty(t, string(w.Stdout)+w.Stderr, what)
					continue
				}
				require.Contains(t, string(w.Stdout)+w.Stderr, "guard-x", what)
				require.Contains(t, string(w.Stdout)+w.Stderr, "boom", what)
				if p.may.Has(MaySystem) {
					require.Contains(t, string(w.Stdout), "guard-x", what)
				}
				require.False(t, readers[d.ID](p.name, w, nil).refuses(), what)
			}
		}
	}
	assert.Equal(t, map[string]bool{"gemini BeforeToolSelection": true}, mute)
}

// A warning about the policy as a whole shows at the same events.
func TestWarningsOfThePolicyAreSaid(t *testing.T) {
	code := &diag.Code{ID: "HK030"}
	for _, d := range All() {
		for i := range d.allPoints() {
			p := &d.allPoints()[i]
			c := &Call{agent: d, point: p, Context: policy.NewContext(p.event)}
			w := c.Encode(&policy.Decision{Event: p.event, Action: policy.Proceed, Final: c.Context,
				Warnings: []policy.Warning{{Code: code, Text: "the hook has no command"}}})
			what := fmt.Sprintf("%s %s: %q %q %d", d.ID, p.name, w.Stdout, w.Stderr, w.Exit)
			if p.silent {
				require.Empty(t, string(w.Stdout)+w.Stderr, what)
				continue
			}
			require.Contains(t, string(w.Stdout)+w.Stderr, "HK030: the hook has no command", what)
			require.False(t, readers[d.ID](p.name, w, nil).refuses(), what)
		}
	}
}

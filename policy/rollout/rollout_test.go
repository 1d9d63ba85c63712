package rollout_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

func session(id string) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldSessionID, id)
}

// TestShares: a share is what was written, whatever stands around it is none.
func TestShares(t *testing.T) {
	for text, spared := range map[string]uint16{"0%": 10000, "25%": 7500, "99.99%": 1, "0.5%": 9950, "100%": 0, "100.00%": 0, "007%": 9300} {
		got, ok := rollout.Parse(text)
		assert.True(t, ok, text)
		assert.Equal(t, spared, got, text)
		if again, ok := rollout.Parse(rollout.Share(got)); spared > 0 {
			assert.True(t, ok && again == got, text)
		}
	}
	for _, text := range []string{"", "%", "25", "-1%", "101%", "100.01%", "1e1%", "0.125%", ".5%", "5.%", "25%%", " 25%", "0x1%", "1000%", "٣%"} {
		_, ok := rollout.Parse(text)
		assert.False(t, ok, text)
	}
	for want, h := range map[string]policy.Hook{"": {}, "dryrun": {Enforcement: "dryrun"}, "25%": {Spared: 7500}, "warn in 25%": {Enforcement: "warn", Spared: 7500}} {
		assert.Equal(t, want, rollout.Text(&h))
	}
}

// TestShareOfSessions: of many sessions about the share is chosen, the same ones each
// time; a greater share takes none out, and another hook chooses others.
func TestShareOfSessions(t *testing.T) {
	const many = 4000
	in := func(name string, spared uint16, i int) bool {
		return rollout.In(&policy.Hook{Name: name, Spared: spared}, session(fmt.Sprint("s", i))) == ""
	}
	both, either := 0, 0
	for _, spared := range []uint16{10000, 9900, 7500, 5000, 100, 0} {
		n := 0
		for i := range many {
			a := in("a", spared, i)
			if a {
				n++
			}
			assert.Equal(t, a, in("a", spared, i))
			if a {
				assert.True(t, in("a", spared/2, i))
			}
			if spared == 5000 {
				if b := in("b", spared, i); a && b {
					both++
				} else if a || b {
					either++
				}
			}
		}
		assert.InDelta(t, float64(many)*float64(10000-int(spared))/10000, n, many*0.03, spared)
	}
	assert.InDelta(t, many/4, both, many*0.03)
	assert.InDelta(t, many/2, either, many*0.03)
}

// TestNoSession: without a session the user chooses, always alike.
func TestNoSession(t *testing.T) {
	in := 0
	for i := range 400 {
		h := &policy.Hook{Name: fmt.Sprint(i), Spared: 5000}
		none, empty := rollout.In(h, policy.NewContext(policy.PreToolExecution)), rollout.In(h, session(""))
		assert.Equal(t, none, empty)
		if none == "" {
			in++
		}
	}
	assert.InDelta(t, 200, in, 60)
	assert.Equal(t, policy.EnforceDryRun, rollout.In(&policy.Hook{Enforcement: policy.EnforceDryRun, Spared: 1}, session("a")))
	assert.Equal(t, policy.EnforceDryRun, rollout.In(&policy.Hook{Enforcement: policy.EnforceWarn, Spared: 10000}, session("a")))
	assert.Equal(t, policy.EnforceWarn, rollout.In(&policy.Hook{Enforcement: policy.EnforceWarn}, session("a")))
}

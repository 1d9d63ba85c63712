package hookc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// What is wrong with a rule of the host's own is told to the host: Open fails
// and says what to write, and a reload leaves the old plan in force.
func TestMisuseOfRules(t *testing.T) {
	silent := policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) { return policy.Result{}, nil })
	made := builtins.Made{Runner: silent, Effects: policy.Effects{World: policy.WorldNone}}
	rule := builtins.Rule{Name: "mine", Doc: "is the host's", New: func(*policy.Hook, builtins.Options) (builtins.Made, diag.List) { return made, nil }}
	open := func(rules ...builtins.Rule) (*hookc.Engine, error) {
		return hookc.Open(t.Context(), hookc.Rules(rules...), hookc.Text("hooks.yaml", "pre_tool_execution:\n  - {name: h, use: mine}\n"))
	}
	eng, err := open(rule)
	require.NoError(t, err)
	defer eng.Close()

	whole := made
	for _, c := range []struct {
		made builtins.Made
		want builtins.Misuse
	}{
		{builtins.Made{Runner: silent}, builtins.Misuse{Rule: "mine",
			Text: "does not say how it uses the world: set Effects.World to policy.WorldNone, WorldRead or WorldWrite"}},
		{builtins.Made{Effects: whole.Effects}, builtins.Misuse{Rule: "mine", Text: "was made without a Runner"}},
	} {
		made = c.made
		_, err := open(rule)
		assert.EqualError(t, err, "hookc: "+c.want.Error())
		assert.ErrorIs(t, err, c.want)
		assert.ErrorIs(t, eng.Reload(t.Context()), c.want)
		d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Bash"})
		require.NoError(t, err)
		assert.True(t, d.Permits())
	}
	made = whole
	_, err = open(rule, rule)
	assert.ErrorIs(t, err, builtins.Misuse{Rule: "mine", Text: "is listed twice"})
	_, err = open(builtins.Rule{Name: "mine"})
	assert.ErrorIs(t, err, builtins.Misuse{Rule: "mine", Text: "is incomplete: it needs Name, Doc and New"})
}

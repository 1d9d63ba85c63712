package hookc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// What is wrong with a rule of the host's own is told to the host: Open fails
// and says what to write.
func TestMisuseOfRules(t *testing.T) {
	silent := policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) { return policy.Result{}, nil })
	made := rule.Made{Runner: silent, Effects: policy.Effects{World: policy.WorldNone}}
	mine := rule.Rule{Name: "mine", Doc: "is the host's", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) { return made, nil }}
	open := func(rules ...rule.Rule) (*hookc.Engine, error) {
		return hookc.Open(t.Context(), hookc.Rules(rules...), hookc.Text("hooks.yaml", "pre_tool_execution:\n  - {name: h, use: mine}\n"))
	}
	eng, err := open(mine)
	require.NoError(t, err)
	defer eng.Close()

	whole := made
	for _, c := range []struct {
		made rule.Made
		want rule.Misuse
	}{
		{rule.Made{Runner: silent}, rule.Misuse{Rule: "mine",
			Text: "does not say how it uses the world: set Effects.World to policy.WorldNone, WorldRead or WorldWrite"}},
		{rule.Made{Effects: whole.Effects}, rule.Misuse{Rule: "mine", Text: "was made without a Runner"}},
	} {
		made = c.made
		_, err := open(mine)
		assert.EqualError(t, err, "hookc: "+c.want.Error())
		assert.ErrorIs(t, err, c.want)
		assert.NoError(t, eng.Reload(t.Context()), "the rule that was made for the hook stays, with its state")
		d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Bash"})
		require.NoError(t, err)
		assert.True(t, d.Permits())
	}
	made = whole
	_, err = open(mine, mine)
	assert.ErrorIs(t, err, rule.Misuse{Rule: "mine", Text: "is listed twice"})
	_, err = open(rule.Rule{Name: "mine"})
	assert.ErrorIs(t, err, rule.Misuse{Rule: "mine", Text: "is incomplete: it needs Name, Doc and New"})
}

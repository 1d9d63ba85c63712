package executor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// TestPipelineCarriesFields: a field that one event does not carry is absent
// there and present at the next event that does.
func TestPipelineCarriesFields(t *testing.T) {
	in := policy.NewContext("").Set(policy.FieldSystemPrompt, "be kind").Set(policy.FieldMessages, []any{"m"}).Set(policy.FieldUserInput, "hi")
	acts := Actions{"micro_compact": does(nil), "auto_compact": func(_ context.Context, c *policy.Context) (map[string]any, error) {
		return map[string]any{"messages": []any{c.Text(policy.FieldSystemPrompt), c.Text(policy.FieldUserInput)}}, nil
	}}
	out, err := pipelines().Pipeline(context.Background(), "compact", acts, in)
	require.NoError(t, err)
	prompts := map[policy.Event]bool{}
	for _, s := range out.Steps {
		if s.Decision != nil {
			prompts[s.Decision.Event] = s.Decision.Final.Has(policy.FieldSystemPrompt)
			assert.False(t, s.Decision.Final.Has(policy.FieldUserInput), s.Decision.Event)
		}
	}
	assert.Equal(t, map[policy.Event]bool{policy.PreMicroCompact: false, policy.PostMicroCompact: false,
		policy.PreAutoCompact: true, policy.PostAutoCompact: false}, prompts)
	v, _ := out.Context.Get(policy.FieldMessages)
	assert.Equal(t, []any{"be kind", "hi"}, v)
	assert.Equal(t, "hi", out.Context.Text(policy.FieldUserInput))
}

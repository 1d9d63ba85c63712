package hookc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// A gate that is repeated behind a hook that rewrites does what it does where it is
// written behind that hook: its feedback too has the agent try again.
func TestRepeatedGatesAskForAnotherTry(t *testing.T) {
	t.Parallel()
	for event, field := range map[policy.Event]policy.Field{
		policy.PreSendMessage: policy.FieldUserInput, policy.PreLLMRequest: policy.FieldSystemPrompt, policy.PostLLMResponse: policy.FieldAssistantOutput,
	} {
		gate := `  - {name: gate, recheck: true, when: '` + field.String() + ` == "b"', stop: "true", feedback: '"another"'}` + "\n"
		writer := `  - {name: writer, set: {` + field.String() + `: '"b"'}}` + "\n"
		for _, hooks := range []string{writer + gate, gate + writer} {
			file := filepath.Join(t.TempDir(), "hooks.yaml")
			require.NoError(t, os.WriteFile(file, []byte(string(event)+":\n"+hooks), 0o600))
			eng, err := hookc.Open(t.Context(), hookc.Files(file))
			require.NoError(t, err)
			for _, in := range []string{"a", "b"} {
				d, err := eng.Fire(t.Context(), event, policy.NewContext(event).Set(field, in))
				require.NoError(t, err)
				assert.EqualValues(t, "retry", d.Action, "%s %s\n%s", event, in, hooks)
				assert.Equal(t, []string{"another"}, d.Feedback, "%s %s\n%s", event, in, hooks)
			}
			require.NoError(t, eng.Close())
		}
	}
}

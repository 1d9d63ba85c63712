package guard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// TestAgentsConfiguration: path-guard protects every file of every agent into
// which hookc is installed, from file tools and from the shell.
func TestAgentsConfiguration(t *testing.T) {
	g := guard(t, "path-guard")
	files := 0
	for _, d := range agent.All() {
		place, err := d.Settings()
		if err != nil {
			continue
		}
		for _, f := range place.Files {
			files++
			p := strings.ReplaceAll(f.Path, "*", "mine")
			switch {
			case f.Base == agent.System:
				p = "/" + p
			case f.Scope() == agent.UserScope:
				p = home + "/" + p
			default:
				p = root + "/" + p
			}
			in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Write").
				Set(policy.FieldToolInput, map[string]any{"file_path": p, "content": "{}"}).
				Set(policy.FieldCwd, root).Set(policy.FieldProjectRoot, root)
			r, err := g.Run(t.Context(), in, 0)
			require.NoError(t, err)
			assert.Equal(t, policy.Deny, r.Verdict, "%s %s", d.ID, p)
			assert.Equal(t, policy.Deny, decide(t, g, "echo '{}' > "+p, root).Verdict, "%s %s", d.ID, p)
			assert.Equal(t, policy.None, decide(t, g, "cat "+p, root).Verdict, "%s %s", d.ID, p)
		}
	}
	assert.Greater(t, files, 20)
}

//go:build unix

package keep

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// TestSettingsWithoutAPlace: an environment that says no place for state does not switch
// off what `hookc log enable` said.
func TestSettingsWithoutAPlace(t *testing.T) {
	before := paths.Account
	t.Cleanup(func() { paths.Account = before })
	enabled, project := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, ".git"), 0o755))
	settings := decisionlog.Settings{Enabled: true, OnError: "deny"}
	require.NoError(t, settings.Write(state.Place(func(string) string { return "" }, enabled)))
	for account, want := range map[string]policy.Action{enabled: policy.Block, t.TempDir(): policy.Proceed, "": policy.Block} {
		paths.Account = func() string { return account }
		for _, env := range [][2]string{{"", ""}, {".h", ""}, {t.TempDir(), filepath.Join(project, ".s")}} {
			t.Setenv("HOME", env[0])
			t.Setenv("XDG_STATE_HOME", env[1])
			for _, brief := range []bool{true, false} {
				log := Log{Brief: brief}
				d := log.Decided(t.Context(), Under{}, decisionlog.Decided{Event: policy.PreToolExecution, Decision: &policy.Decision{Action: policy.Proceed}})
				assert.Equal(t, want, d.Action, "account %q, environment %q", account, env)
				refused := log.Decided(t.Context(), Under{}, decisionlog.Decided{Event: policy.PreToolExecution, Decision: &policy.Decision{Action: policy.Block, By: "guard", Reasons: []string{"no deploys here"}}})
				assert.Equal(t, []string{"no deploys here"}, refused.Reasons)
				assert.Equal(t, "guard", refused.By)
				assert.Equal(t, want == policy.Block, len(refused.Warnings) > 0)
				log.Close()
			}
		}
	}
}

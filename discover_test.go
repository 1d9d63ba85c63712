package hookc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/trust"
)

// project is a folder with a policy of its own and a script, seen by a user
// with a policy and an empty state folder.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv(trust.Env, "")
	write(t, filepath.Join(dir, "config", "hookc", "hooks.yaml"), `pre_tool_execution: [{name: mine, context: '"user"'}]`)
	root := filepath.Join(dir, "project")
	write(t, filepath.Join(root, ".hookc", "hooks.yaml"),
		`pre_tool_execution: [{name: theirs, command: "sh `+filepath.Join(root, "guard.sh")+`", on_error: deny}]`)
	write(t, filepath.Join(root, "guard.sh"), `echo '{"decision": "deny", "reason": "project"}'`)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "src"), 0o755))
	return root
}

// trusted records consent to a project as it is now.
func trusted(t *testing.T, root string) {
	t.Helper()
	parts, found := source.Parts(root, []source.DiscoverOptions{{}})
	require.Empty(t, found.Render())
	consent, err := trust.Open(root).Trust(parts)
	require.NoError(t, err)
	require.Equal(t, []string{".hookc/hooks.yaml", "guard.sh"}, consent.Files)
}

func statuses(p *dag.Program) map[string]dag.EntryStatus {
	out := map[string]dag.EntryStatus{}
	for _, e := range p.Hooks {
		out[e.Hook.Name] = e.Status
	}
	return out
}

func codes(list []policy.Warning) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.Code.ID)
	}
	return out
}

func TestDiscoverRunsAProjectOnlyWhenTrusted(t *testing.T) {
	root := project(t)
	eng, err := hookc.Open(t.Context(), hookc.Discover(filepath.Join(root, "src")))
	require.NoError(t, err)
	defer eng.Close()
	refused := func(why string, read map[string]dag.EntryStatus) {
		t.Helper()
		assert.Equal(t, read, statuses(eng.Program()))
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		assert.Equal(t, policy.Proceed, d.Action)
		assert.Equal(t, []string{"user"}, d.Context)
		require.Equal(t, []string{"HK165"}, codes(d.Warnings))
		assert.Contains(t, d.Warnings[0].Text, why)
		d, err = eng.Notify(t.Context(), hookc.Notification{})
		require.NoError(t, err)
		assert.Equal(t, []string{"HK165"}, codes(d.Warnings), "an event without hooks says so too")
	}
	runs := func() {
		t.Helper()
		assert.Equal(t, map[string]dag.EntryStatus{"mine": dag.Live, "theirs": dag.Live}, statuses(eng.Program()))
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		assert.Equal(t, policy.Block, d.Action)
		assert.Equal(t, "theirs", d.By)
		assert.Equal(t, []string{"project"}, d.Reasons)
		assert.Empty(t, d.Warnings)
	}
	refused("never trusted", map[string]dag.EntryStatus{"mine": dag.Live})
	shown, err := hookc.Open(t.Context(), hookc.Discover(root), hookc.Inspect())
	require.NoError(t, err)
	defer shown.Close()
	assert.Equal(t, map[string]dag.EntryStatus{"mine": dag.Live, "theirs": dag.Untrusted}, statuses(shown.Program()))

	trusted(t, root)
	require.NoError(t, eng.Reload(t.Context()))
	runs()

	write(t, filepath.Join(root, "guard.sh"), `echo '{}' # all is well`)
	for _, env := range []string{"", "all"} {
		t.Setenv(trust.Env, env)
		require.NoError(t, eng.Reload(t.Context()))
		assert.Equal(t, map[string]dag.EntryStatus{"mine": dag.Live, "theirs": dag.Live}, statuses(eng.Program()))
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		assert.Equal(t, policy.Block, d.Action, "what was trusted decides")
		require.Equal(t, []string{"HK165"}, codes(d.Warnings))
		assert.Contains(t, d.Warnings[0].Text, "guard.sh changed")
	}
	write(t, filepath.Join(root, "guard.sh"), `echo '{"decision": "deny", "reason": "project"}'`)
	require.NoError(t, eng.Reload(t.Context()))
	runs()
}

// A project that is not trusted cannot keep the user's own policy from
// compiling.
func TestUntrustedProjectCannotBreakTheUser(t *testing.T) {
	root := project(t)
	write(t, filepath.Join(root, ".hookc", "hooks.yaml"), "pre_tool_execution: [{name: broken, deny: (}\n\t")
	eng, err := hookc.Open(t.Context(), hookc.Discover(root))
	require.NoError(t, err)
	defer eng.Close()
	d, err := eng.PreTool(t.Context(), bash("ls"))
	require.NoError(t, err)
	assert.Equal(t, []string{"user"}, d.Context)
	assert.Equal(t, []string{"HK165"}, codes(d.Warnings))
}

func TestSwitchOffSparesLockedHooksAndSaysSo(t *testing.T) {
	eng := engine(t, `pre_tool_execution:
  - {name: open, context: '"open"'}
  - {name: kept, locked: true, context: '"kept"'}
`, hookc.SwitchOff())
	d, err := eng.PreTool(t.Context(), bash("ls"))
	require.NoError(t, err)
	assert.Equal(t, []string{"kept"}, d.Context)
	require.Equal(t, []string{"HK181"}, codes(d.Warnings), "every Decision says so")
	assert.Equal(t, eng.Program().Notes, []string{d.Warnings[0].Text})
}

func TestOverridesSpareLockedHooksAndSaySo(t *testing.T) {
	eng := engine(t, `pre_tool_execution:
  - {name: kept, locked: true, command: "exit 1", filter: {tool_name: Read}}
  - {name: bent, command: "exit 1", filter: {tool_name: Bash}}
`, hookc.Overrides(map[string]string{"on_error": "deny"}))
	for tool, want := range map[string]policy.Action{"Read": policy.Proceed, "Bash": policy.Block} {
		d, err := eng.PreTool(t.Context(), hookc.Call{Tool: tool})
		require.NoError(t, err)
		assert.Equal(t, want, d.Action, tool)
		assert.Equal(t, []string{"HK181"}, codes(d.Warnings))
	}
}

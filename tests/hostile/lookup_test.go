//go:build unix

package hostile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
)

// What check says of a relative command is what a run finds: for each tier, each
// way to name a script and each folder that the script is in, the finding is there
// exactly where the hook fails to start, wherever hookc itself is.
func TestCheckLooksWhereRunLooks(t *testing.T) {
	commands := map[string]string{"program": "./tools/x.sh", "bare path": "tools/x.sh", "shell": "sh tools/x.sh", "shell dot": "sh ./tools/x.sh -v",
		"assignment": "A=1 tools/x.sh", "quoted": "'tools/x.sh'", "python": "python3 -B tools/x.py"}
	for _, tier := range []policy.Tier{policy.TierUser, policy.TierProject, policy.TierLocal} {
		for how, command := range commands {
			for _, where := range []string{"root", "policy", "cwd", "event"} {
				dir := t.TempDir()
				places := map[string]string{"root": filepath.Join(dir, "project"), "policy": filepath.Join(dir, "project", "rules"),
					"cwd": filepath.Join(dir, "here"), "event": filepath.Join(dir, "project", "sub")}
				for _, p := range places {
					require.NoError(t, os.MkdirAll(p, 0o755))
				}
				require.NoError(t, os.Mkdir(filepath.Join(dir, "project", ".git"), 0o755))
				require.NoError(t, put(places[where], "tools/x.sh", "#!/bin/sh\nexit 0\n"))
				require.NoError(t, os.Chmod(filepath.Join(places[where], "tools/x.sh"), 0o755))
				require.NoError(t, put(places[where], "tools/x.py", ""))
				path := filepath.Join(places["policy"], "hooks.yaml")
				require.NoError(t, put(places["policy"], "hooks.yaml", "pre_tool_execution:\n  - {name: h, command: \""+command+"\", on_error: deny, protocol: claude}\n"))
				t.Chdir(places["cwd"])
				options := []hookc.Option{host.Input[hookc.Option](source.Input{Path: path, Tier: tier}), hookc.SkipVerify()}
				finding := len(codesOf(t, options...)["HK090"]) > 0

				eng, err := hookc.Open(t.Context(), options...)
				require.NoError(t, err)
				in := policy.NewContext(hookc.PreToolExecution)
				in.Set(policy.FieldToolName, "Bash")
				in.Set(policy.FieldCwd, places["event"])
				d, err := eng.Fire(t.Context(), hookc.PreToolExecution, in)
				require.NoError(t, err)
				require.NoError(t, eng.Close())
				assert.Equal(t, !d.Permits(), finding, "%s, %s, script in %s: %s", tier, how, where, strings.Join(d.Reasons, " "))
			}
		}
	}
}

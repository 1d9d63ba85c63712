package hostile

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/programs"
)

// failing are guards that fail, by the default posture, in the ways the world
// has for them.
const failing = `EVENT:
  - {name: missing-program, command: /no/such/program --guard}
  - {name: out-of-time, command: sleep 60, timeout: 0.2}
  - {name: killed, command: 'kill -9 $$'}
  - {name: no-provider, prompt: "is this fine? {{event}}", writes: []}
`

var failingNames = []string{"missing-program", "out-of-time", "killed", "no-provider"}

// TestFailuresReachWhoeverReads fires guards that fail and let through, as every
// agent's hook: each is named in the answer or on stderr, and is counted.
func TestFailuresReachWhoeverReads(t *testing.T) {
	t.Parallel()
	for _, d := range agent.All() {
		for _, event := range []policy.Event{policy.PreToolExecution, policy.PreSendMessage} {
			i := slices.IndexFunc(d.Natives(), func(native string) bool { return slices.Contains(d.EventsOf(native), event) })
			if i < 0 {
				continue // the agent has no such event
			}
			native := d.Natives()[i]
			t.Run(d.ID+" "+native, func(t *testing.T) {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				lay(t, dir, map[string]string{"hooks.yaml": strings.Replace(failing, "EVENT", string(event), 1), ".git/HEAD": ""})
				home := t.TempDir()
				run := func(stdin []byte, args ...string) string {
					cmd := exec.Command(programs.Hookc(t), args...)
					cmd.Dir, cmd.Stdin = dir, strings.NewReader(string(stdin))
					cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=")
					var out, errs strings.Builder
					cmd.Stdout, cmd.Stderr = &out, &errs
					_ = cmd.Run() // the words say what the code does
					return out.String() + errs.String()
				}
				said := run(d.Sample(native, "Bash", dir), "run", native, "--dialect", d.ID, "-f", "hooks.yaml")
				for _, name := range failingNames {
					assert.Contains(t, said, name)
				}
				var status struct {
					Counters []struct {
						Hook   string
						Failed int
					}
				}
				require.NoError(t, json.Unmarshal([]byte(run(nil, "hooks", "status", "--json", "-f", "hooks.yaml")), &status))
				var counted []string
				for _, c := range status.Counters {
					if c.Failed > 0 {
						counted = append(counted, c.Hook)
					}
				}
				assert.ElementsMatch(t, failingNames, counted)
			})
		}
	}
}

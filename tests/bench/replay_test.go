package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/programs"
)

// BenchmarkReplay is an entry of the decision log that hookc replay decides again by 100
// rules over ten tools, in expr and in Rego: how many a second, and the processor time of
// one, which a busy machine does not change. 1,000,000 entries: -benchtime 1000000x.
func BenchmarkReplay(b *testing.B) {
	for _, kind := range []struct {
		name string
		rule ruleText
	}{{"expr", exprRule}, {"rego", regoRule}} {
		b.Run(kind.name, func(b *testing.B) {
			home, text := b.TempDir(), policyOf(kind.rule, 100, 10)
			file := filepath.Join(home, "hooks.yaml")
			require.NoError(b, os.WriteFile(file, []byte(text), 0o600))
			eng, err := hookc.Open(b.Context(), hookc.Text("hooks.yaml", text), hookc.Log(decisionlog.Folder(filepath.Join(home, "hookc")), hookc.LogOptions{Deny: true}))
			require.NoError(b, err)
			for i := range b.N {
				command := fmt.Sprintf("go test ./pkg%d && git status --short", i)
				if i%50 == 0 {
					command += " forbidden-" + fmt.Sprint(i/50%10*10)
				}
				in := policy.NewContext(hookc.PreToolExecution).Set(policy.FieldSessionID, fmt.Sprint("s", i/100)).Set(policy.FieldCwd, "/home/dev/repo").
					Set(policy.FieldProjectRoot, "/home/dev/repo").Set(policy.FieldPermissionMode, "default").Set(policy.FieldToolName, "Bash").
					Set(policy.FieldToolInput, map[string]any{"command": command, "description": "Run the tests"})
				_, err := eng.Fire(b.Context(), hookc.PreToolExecution, in.Frozen(hookc.PreToolExecution))
				require.NoError(b, err)
			}
			require.NoError(b, eng.Close())
			cmd := exec.Command(programs.Hookc(b), "replay", "-f", file, "--recorded")
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home, "HOOKC_TRUST=all")
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			began := time.Now()
			b.ResetTimer()
			require.NoError(b, cmd.Run(), "%s%s", &out, &said)
			took := time.Since(began)
			require.True(b, strings.Contains(out.String(), fmt.Sprintf(" replayed: %d as recorded, 0 changed, 0 unsure", b.N)), "%s%s", &out, &said)
			worked := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			b.ReportMetric(float64(b.N)/took.Seconds(), "entries/s")
			b.ReportMetric(float64(worked.Nanoseconds())/1000/float64(b.N), "cpu-µs/entry")
		})
	}
}

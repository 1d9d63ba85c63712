package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/rego"
)

// BenchmarkCases runs 300 cases of a policy of 100 rules in Rego and expr, as hookc test
// does, with the reading and compiling of the policy.
func BenchmarkCases(b *testing.B) {
	dir := b.TempDir()
	var policy, cases strings.Builder
	policy.WriteString("pre_tool_execution:\n  - name: guard\n    type: rego\n    source: |\n      package guard\n")
	for i := range 50 {
		fmt.Fprintf(&policy, "      deny contains \"rule %d\" if regex.match(`^tool%d\\b.*--force`, input.command)\n", i, i)
	}
	for i := range 50 {
		fmt.Fprintf(&policy, "  - {name: e%d, deny: 'command startsWith \"halt%d \"', reason: no}\n", i, i)
	}
	cases.WriteString("cases:\n")
	for i := range 300 {
		word, by := fmt.Sprintf("tool%d --force", i%50), "guard"
		if i%2 == 1 {
			word, by = fmt.Sprintf("halt%d now", i%50), fmt.Sprintf("e%d", i%50)
		}
		fmt.Fprintf(&cases, "  - {name: c%d, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: %s}}, expect: {by: %s}}\n", i, word, by)
	}
	require.NoError(b, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte(policy.String()), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "hooks_test.yaml"), []byte(cases.String()), 0o600))
	for b.Loop() {
		r, err := casetest.Run(b.Context(), casetest.Config{Dir: dir, Shown: func(path string) string { return path },
			Options: []hookc.Option{hookc.Files(filepath.Join(dir, "hooks.yaml"))},
			Eyes:    func(report func(rego.Difference)) *rego.Eyes { return rego.NewEyes(true, nil, report) }})
		require.NoError(b, err)
		require.Equal(b, 300, r.Passed)
	}
}

//go:build !topdown

package scripts

import "testing"

// TestGoldenExplain: every drawing of hooks.example.yaml, which names the engines
// of its rules and what they take.
func TestGoldenExplain(t *testing.T) {
	for _, format := range []string{"text", "json", "mermaid", "dot", "svg", "html"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			golden(t, "explain."+format, "compile", "hooks.example.yaml", "--explain="+format)
		})
	}
	golden(t, "explain-Bash.text", "compile", "hooks.example.yaml", "--explain", "--event", "PreToolUse", "--tool", "Bash")
}

package compiler

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// native marks a hook as one of the agent's own configuration.
func native(_ *bench, h *policy.Hook) { h.Body.Agent.Event = "PreToolUse" }

// Hints name a fix where it can be written: an agent's own configuration has
// neither recheck nor declarations.
func TestHintsOfNativeHooks(t *testing.T) {
	hintsOf := func(marks ...with) map[string][]string {
		b := newBench()
		b.add("guard", bash, append(marks, onError(policy.OnErrorDeny), filter(policy.FilterToolName, "Bash"))...)
		b.add("audit", bash, append(marks, filter(policy.FilterToolName, "Bash"))...)
		b.add("w", expr, rewriter...)
		out := map[string][]string{}
		for _, d := range b.compile(t, hints).Diagnostics {
			if d.Code.ID == "HK161" || d.Code.ID == "HK210" {
				out[d.Code.ID] = append(out[d.Code.ID], d.Hint)
			}
		}
		return out
	}
	for _, h := range hintsOf(native)["HK161"] {
		assert.True(t, strings.HasPrefix(h, "the agent's own configuration has no recheck: hookc convert writes a hooks.yaml in which "), h)
	}
	for _, h := range hintsOf(native)["HK210"] {
		assert.True(t, strings.HasPrefix(h, "the agent's own configuration has no such declarations: hookc convert writes a hooks.yaml in which "), h)
	}
	assert.Contains(t, hintsOf()["HK161"], "add recheck: true to guard, or writes: to what changes nothing it reads")
	assert.Equal(t, []int{len(hintsOf()["HK161"]), len(hintsOf()["HK210"])}, []int{len(hintsOf(native)["HK161"]), len(hintsOf(native)["HK210"])})
	assert.NotEmpty(t, hintsOf(native)["HK161"])
	assert.NotEmpty(t, hintsOf(native)["HK210"])
	for _, h := range hintsOf()["HK210"] {
		assert.Empty(t, h)
	}
}

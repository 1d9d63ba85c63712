package hookc_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc"
)

// TestApprovalSourceIsChecked: Rego over who may answer that cannot be evaluated is found
// where the policy is compiled, at its place, and not first when somebody answers.
func TestApprovalSourceIsChecked(t *testing.T) {
	const hooks = "pre_tool_execution:\n  - {name: push, ask: 'command == \"x\"', reason: no}\n"
	for rego, at := range map[string]string{
		"package a\n\n    deny contains \"x\" if {\n      input.raw.approval.by ==\n    }\n":       "hooks.yaml:",
		"package a\n\n    deny contains \"x\" if {\n      nowhere(input.raw.approval.by)\n    }\n": "hooks.yaml:6:7: ",
		"package a\n\n    deny contains x if {\n      input.raw.approval.by == \"b\"\n    }\n":     "hooks.yaml:5:19: ",
		"pack a\n":                  "hooks.yaml:3:5: ",
		"package a\n\n    x := 1\n": "hooks.yaml:",
	} {
		program, found := hookc.Compile(hookc.Text("hooks.yaml", "approval:\n  source: |\n    "+rego+hooks), hookc.SkipVerify())
		assert.True(t, found.HasErrors() && program == nil, "%s", rego)
		assert.Contains(t, found.Render(), at, rego)
		assert.Regexp(t, `HK\d\d\d`, found.Render())
	}
	_, found := hookc.Compile(hookc.Text("hooks.yaml", "approval:\n  source: |\n    package a\n\n    deny contains \"no\" if input.raw.approval.by == \"b\"\n"+hooks), hookc.SkipVerify())
	assert.False(t, found.HasErrors(), found.Render())
	for _, wait := range []string{"0", "0s", "0.0", "'0'"} {
		_, found = hookc.Compile(hookc.Text("hooks.yaml", "approval: {wait: "+wait+"}\n"+hooks), hookc.SkipVerify())
		assert.False(t, found.HasErrors(), found.Render())
	}
	_, found = hookc.Compile(hookc.Text("hooks.yaml", "approval: {wait: -1s}\n"+hooks), hookc.SkipVerify())
	assert.True(t, strings.Contains(found.Render(), "HK009"))
}

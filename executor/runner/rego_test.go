package runner

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/executor/kind/expr"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func regoHook(source string) *policy.Hook {
	return &policy.Hook{Name: "guard", Event: policy.PreToolExecution, Kind: policy.KindRego,
		Body: policy.Body{Source: diag.Literal("package p\n" + source)}}
}

func TestRegoKind(t *testing.T) {
	kind := regoKind(Options{Budget: time.Second})
	assert.Equal(t, time.Second, kind.Timeout)
	assert.Equal(t, policy.OnErrorDeny, kind.OnGuard)
	assert.Equal(t, policy.OnErrorSkip, kind.OnOther)

	body, found := kind.Prepare(regoHook(`deny contains "no" if input.tool_input.command == "rm"`))
	require.Empty(t, found)
	assert.Equal(t, []string{"tool_input.command"}, body.Effects.Reads.Names())
	assert.Equal(t, policy.MayDeny, body.Effects.May)
	assert.Equal(t, policy.Powers(0), body.Always)
	in := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "rm"}).Frozen(policy.PreToolExecution)
	r, err := body.Runner.Run(context.Background(), in, 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, r.Verdict)

	body, found = kind.Prepare(regoHook(`deny contains "no"`))
	require.Empty(t, found)
	assert.Equal(t, policy.MayDeny, body.Always)
}

// The lints that rego shares with expr go by the same codes.
func TestRegoLints(t *testing.T) {
	kind := regoKind(Options{})
	for source, want := range map[string]*diag.Code{
		"deny if input.tool_name == \"Bash\"":                      expr.CodeNoReason,
		"deny contains \"no\" if input.tool_input.command != \"\"": expr.CodeGuardUndefined,
	} {
		_, found := kind.Prepare(regoHook(source))
		require.Len(t, found, 1, source)
		assert.Same(t, want, found[0].Code)
	}
	body, found := kind.Prepare(regoHook("deny contains \"no\" if {"))
	assert.True(t, found.HasErrors())
	assert.Nil(t, body.Runner)
}

package runner

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

// TestValidAsNode: recorded from Node's decoder.
func TestValidAsNode(t *testing.T) {
	for in, want := range map[string]string{
		"\xff\xfeb": "\uFFFD\uFFFDb", "\xe2\x82A": "\uFFFDA", "\xf0\x9f\x98A": "\uFFFDA", "\xe2\x82": "\uFFFD",
		"\xed\xa0\x80": "\uFFFD\uFFFD\uFFFD", "\xc0\x80": "\uFFFD\uFFFD", "\xf4\x90\x80\x80": "\uFFFD\uFFFD\uFFFD\uFFFD",
		"\xf0\x80A": "\uFFFD\uFFFDA", "\xe0\x80\x80A": "\uFFFD\uFFFD\uFFFDA", "\xc3\xe2\x82\xac": "\uFFFD€", "ok": "ok",
	} {
		assert.Equal(t, want, valid(in), "%q", in)
	}
}

// TestOutputBeyondTheBound: Gemini CLI has nearly none, Qwen Code cuts.
func TestOutputBeyondTheBound(t *testing.T) {
	for p, fails := range map[policy.Protocol]bool{"gemini": false, "qwen": false, "claude": true} {
		h := &policy.Hook{Name: "h", Event: policy.PreToolExecution, Kind: policy.KindBash,
			Body: policy.Body{Protocol: p, Agent: policy.AgentBody{Event: "x"}, Command: diag.Literal("head -c 2000000 /dev/zero | tr '\\0' x")}}
		body, _ := prepareBash(Options{}, h)
		_, err := body.Runner.Run(t.Context(), policy.NewContext(policy.PreToolExecution), 0)
		assert.Equal(t, fails, err != nil, "%s: %v", p, err)
	}
}

// A hook of jcli's own is sent what jcli sends and no more.
func TestNativeInput(t *testing.T) {
	in := policy.NewContext(policy.StopEvent).Set(policy.FieldCwd, "/w").Set(policy.FieldProjectRoot, "/").Set(policy.FieldUserInput, "hi").
		Set(policy.FieldAssistantOutput, "bye").Set(policy.FieldModel, "m")
	got, err := agent.Speaks("jcli").Input(policy.StopEvent, "stop", in)
	require.NoError(t, err)
	assert.JSONEq(t, `{"event":"stop","cwd":"/w","user_input":"bye","model":"m"}`, string(got))
	call := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
	got, err = agent.Speaks("jcli").Input(policy.PreToolExecution, "pre_tool_execution", call)
	require.NoError(t, err)
	assert.JSONEq(t, `{"event":"pre_tool_execution","tool_name":"Bash","tool_arguments":"{\"command\":\"ls\"}"}`, string(got))
}

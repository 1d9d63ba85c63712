package agents_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withClaude puts Claude Code to work under a policy, with hookc at events.
func withClaude(t *testing.T, policy string, events []string, turns func(s *session) []turn) *session {
	t.Helper()
	s := begin(t, claude)
	s.events, s.policy = events, filepath.Join(s.home, "hooks.yaml")
	put(t, s.policy, policy)
	put(t, filepath.Join(s.project, "notes.txt"), "the word is hunter2\n")
	return s.play(t, turns)
}

// delegate is a call that starts a subagent of a type.
func delegate(kind string) turn {
	return turn{tool: "Agent", args: map[string]any{"description": "look around", "prompt": "look", "subagent_type": kind, "run_in_background": false}}
}

// TestClaudeHidesAResult: of a result that is to be changed the model reads the
// new text alone, whatever the rule made of it and whichever tool it is of.
func TestClaudeHidesAResult(t *testing.T) {
	calls := map[string]turn{
		"Bash": claude.shell("cat notes.txt"), "Read": {tool: "Read", args: map[string]any{"file_path": "notes.txt"}},
		"Grep": {tool: "Grep", args: map[string]any{"pattern": "hunter2", "output_mode": "content"}},
		"mcp":  {tool: "mcp__desk__look_up", args: map[string]any{"what": "hunter2"}},
	}
	for name, call := range calls {
		for _, changed := range []string{`"all gone"`, `{"stdout": "all gone", "stderr": "", "interrupted": false, "more": 1}`} {
			t.Run(name+" "+changed, func(t *testing.T) {
				t.Parallel()
				s := withClaude(t, "post_tool_execution:\n  - {name: hide, when: 'true', set: {tool_result: '"+changed+"'}}\n", []string{"PostToolUse"},
					func(*session) []turn { return []turn{call, {text: "done"}} })
				requests := s.model.sent()
				require.Len(t, requests, 2)
				result := lastResult(t, requests[1])
				assert.NotContains(t, result, "the word is")
				assert.Contains(t, result, "gone")
			})
		}
	}
}

// TestClaudeDoesNotReadWhatItCannotHide: where no new text can be shown the turn
// ends before the model reads the old one.
func TestClaudeDoesNotReadWhatItCannotHide(t *testing.T) {
	s := withClaude(t, "post_tool_execution:\n  - {name: hide, when: 'true', set: {tool_result: '\"gone\"'}}\n", []string{"PostToolUse"},
		func(s *session) []turn { return []turn{claude.write(s.project, "new.txt", "x"), {text: "done"}} })
	assert.Len(t, s.model.sent(), 1)
}

// TestClaudeTakesTheMoreRestrictiveAnswer: the program itself denies where an
// approval stands beside a block, and so does hookc.
func TestClaudeTakesTheMoreRestrictiveAnswer(t *testing.T) {
	answer := `{"decision":"block","reason":"not that","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
	turns := func(*session) []turn { return []turn{claude.shell("echo ran > ran.txt"), {text: "done"}} }
	script := "cat >/dev/null; printf %s '" + answer + "'"
	alone := begin(t, claude)
	alone.events, alone.script = []string{"PreToolUse"}, script
	alone.play(t, turns)
	s := withClaude(t, "pre_tool_execution:\n  - name: both\n    protocol: claude\n    command: "+jsonText(script)+"\n", []string{"PreToolUse"}, turns)
	for _, s := range []*session{alone, s} {
		assert.Empty(t, s.file(t, "ran.txt"))
		assert.Contains(t, lastResult(t, s.model.sent()[1]), "not that")
	}
}

// TestClaudeNamesServers: a rule on mcp.server and mcp.tool meets the calls of
// that server.
func TestClaudeNamesServers(t *testing.T) {
	s := withClaude(t, "pre_tool_execution:\n  - {name: desk, deny: 'mcp.server == \"desk\" and mcp.tool == \"look_up\"', reason: the desk is closed}\n", []string{"PreToolUse"},
		func(*session) []turn {
			return []turn{{tool: "mcp__desk__look_up", args: map[string]any{"what": "time"}}, {text: "done"}}
		})
	assert.Contains(t, lastResult(t, s.model.sent()[1]), "the desk is closed")
}

// lastResult is the text of the last result of a tool in a request.
func lastResult(t *testing.T, request string) string {
	t.Helper()
	var body struct {
		Messages []struct{ Content any }
	}
	require.NoError(t, json.Unmarshal([]byte(request), &body))
	out := ""
	for _, m := range body.Messages {
		blocks, _ := m.Content.([]any)
		for _, b := range blocks {
			if block, _ := b.(map[string]any); block["type"] == "tool_result" {
				out = jsonText(block["content"])
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// TestClaudeStartsNoSubagent: a subagent that is refused at its start, which the
// program does not obey, never asks its model anything.
func TestClaudeStartsNoSubagent(t *testing.T) {
	policy := "subagent_start:\n  - {name: none, deny: 'subagent_type == \"general-purpose\"', reason: no subagents here}\n"
	s := begin(t, claude)
	s.policy = filepath.Join(s.home, "hooks.yaml")
	put(t, s.policy, policy)
	s.bare, s.installed = true, true
	s.play(t, func(*session) []turn { return []turn{delegate("general-purpose"), {text: "done"}} })
	requests := s.model.sent()
	require.Len(t, requests, 2)
	assert.Contains(t, lastResult(t, requests[1]), "no subagents here")
	other := withClaude(t, policy, []string{"PreToolUse", "SubagentStart"}, func(*session) []turn {
		return []turn{delegate("Explore"), {text: "looked"}, {text: "done"}}
	})
	requests = other.model.sent()
	require.Len(t, requests, 3)
	assert.Contains(t, lastResult(t, requests[2]), "looked")
}

// TestClaudeShowsSecretsInFailures: the program lets no hook change what a
// failing command printed. The secret is kept from the model before, and that
// the other does nothing is found by check --dialect.
func TestClaudeShowsSecretsInFailures(t *testing.T) {
	const secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	turns := func(s *session) []turn { return []turn{claude.shell("cat key.txt; exit 3"), {text: "done"}} }
	run := func(policy string) string {
		s := begin(t, claude)
		s.events, s.policy = []string{"PreToolUse", "PostToolUseFailure"}, filepath.Join(s.home, "hooks.yaml")
		put(t, s.policy, policy)
		put(t, filepath.Join(s.project, "key.txt"), secret)
		return lastResult(t, s.play(t, turns).model.sent()[1])
	}
	assert.Contains(t, run("post_tool_execution_failure:\n  - {name: secrets, type: builtin, use: secret-guard}\n"), secret)
	filtered := run("pre_tool_execution:\n  - {name: filter, when: 'tool_kind == \"shell\"', set: {tool_input.command: '\"{ \" + command + \"; } 2>&1 | sed s/ghp_[A-Za-z0-9]*/SECRET/g\"'}}\n")
	assert.NotContains(t, filtered, secret)
}

// TestClaudeWithoutATerminal: claude -p says by itself that it can ask nobody: a question
// becomes an approval.
func TestClaudeWithoutATerminal(t *testing.T) {
	s := withClaude(t, "approval: {}\npre_tool_execution:\n  - {name: push, ask: 'command contains \"touch\"', reason: it leaves something}\n", []string{"PreToolUse"},
		func(*session) []turn { return []turn{claude.shell("touch left.txt"), {text: "done"}} })
	requests := s.model.sent()
	require.Len(t, requests, 2)
	assert.Contains(t, lastResult(t, requests[1]), "somebody must approve this call")
	assert.Empty(t, s.file(t, "left.txt"))
}

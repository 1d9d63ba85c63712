package agents_test

import "math/rand/v2"

var qwenEvents = []string{
	"PreToolUse", "PreToolUse", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop",
	"StopFailure", "SessionStart", "SessionEnd", "Notification", "PreCompact", "PostCompact",
}

// newQwenCase is case number id of a seed for Qwen Code, in the folder cwd.
func newQwenCase(seed uint64, id int, cwd string) *nativeCase {
	d := dice{rand.New(rand.NewPCG(seed, uint64(id)))}
	c := &nativeCase{ID: id, Cwd: cwd, Session: "s1", Event: choose(d, qwenEvents...), Enabled: true, Disabled: []string{}}
	c.Input = d.qwenInput(c)
	g := &groupMaker{dice: d, c: c}
	c.Hooks = map[string]any{c.Event: g.groups()}
	if d.chance(4) {
		if other := choose(d, qwenEvents...); other != c.Event {
			c.Hooks[other] = (&groupMaker{dice: d, c: c, used: 50}).groups()
		}
	}
	if d.chance(25) {
		c.Hooks[choose(d, "BeforeTool", "pretooluse", "enabled", "disabled")] = choose[any](d, g.groups(), true, []any{"x"})
	}
	if d.chance(60) {
		c.Hooks[c.Event] = choose[any](d, map[string]any{"hooks": []any{}}, "none", nil, []any{})
	}
	return c
}

// qwenInput is what Qwen Code would send.
func (d dice) qwenInput(c *nativeCase) map[string]any {
	in := map[string]any{
		"session_id": "s1", "transcript_path": "/t.json", "cwd": c.Cwd, "hook_event_name": c.Event,
		"timestamp": "2026-01-01T00:00:00.000Z",
	}
	add := func(more map[string]any) {
		for k, v := range more {
			in[k] = v
		}
	}
	mode := choose(d, "default", "yolo", "auto_edit")
	switch c.Event {
	case "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest":
		add(map[string]any{"permission_mode": mode,
			"tool_name":  choose(d, "write_file", "write_file", "run_shell_command", "read_file", "edit", "mcp__srv__write_file", "[odd", "write_file|replace", "naïve"),
			"tool_input": choose(d, map[string]any{"command": "ls"}, map[string]any{"file_path": "a", "content": "b"}, map[string]any{"n": 1})})
		switch c.Event {
		case "PermissionRequest":
			return in
		case "PostToolUse":
			in["tool_response"] = map[string]any{"output": "done"}
		case "PostToolUseFailure":
			in["error"], in["is_interrupt"] = "it broke", d.chance(4)
		}
		in["tool_use_id"] = "toolu_1"
	case "UserPromptSubmit":
		in["prompt"] = choose(d, "do it", "fix\nthis", "")
	case "Stop":
		add(map[string]any{"stop_hook_active": true, "last_assistant_message": "did it"})
	case "SubagentStart":
		add(map[string]any{"agent_id": "a1", "agent_type": choose(d, "Explorer", "Plan"), "permission_mode": mode})
	case "SubagentStop":
		add(map[string]any{"agent_id": "a1", "agent_type": choose(d, "Explorer", "Plan"), "permission_mode": mode, "stop_hook_active": d.chance(2),
			"agent_transcript_path": "/a.json", "last_assistant_message": "did it"})
	case "StopFailure":
		add(map[string]any{"error": choose(d, "rate_limit", "unknown"), "last_assistant_message": "did it"})
	case "SessionStart":
		add(map[string]any{"source": choose(d, "startup", "resume", "compact"), "model": "m0", "permission_mode": mode})
	case "SessionEnd":
		in["reason"] = choose(d, "clear", "other", "prompt_input_exit")
	case "Notification":
		add(map[string]any{"message": "may I?", "notification_type": choose(d, "permission_prompt", "idle_prompt"), "title": "x"})
	case "PreCompact":
		add(map[string]any{"trigger": choose(d, "auto", "manual"), "custom_instructions": ""})
	case "PostCompact":
		add(map[string]any{"trigger": choose(d, "auto", "manual"), "compact_summary": "short"})
	}
	return in
}

var qwenMatchers = []any{
	"", "*", "Explorer", "Expl", "Plan|Explorer", "rate_limit", "startup", "startup|resume", "^res", "clear", "auto", "manual", "permission_prompt", "_prompt", "[", " auto ", 5, nil,
}

// qwenSpecific is hookSpecificOutput at an event of Qwen Code.
func (g *groupMaker) qwenSpecific(out map[string]any) {
	switch g.c.Event {
	case "PreToolUse":
		if g.chance(2) {
			out["permissionDecision"] = choose[any](g.dice, "allow", "deny", "deny", "ask", "DENY", nil, 5)
		}
		if g.chance(3) {
			out["permissionDecisionReason"] = choose[any](g.dice, "policy", "", 7)
		}
		if g.chance(4) {
			out[choose(g.dice, "tool_input", "updatedInput")] = choose[any](g.dice, map[string]any{"content": "X"}, map[string]any{"n": 2}, nil)
		}
	case "PermissionRequest":
		if !g.chance(3) {
			decision := map[string]any{}
			if !g.chance(5) {
				decision["behavior"] = choose[any](g.dice, "allow", "deny", "ask", nil)
			}
			if g.chance(2) {
				decision["message"] = choose(g.dice, "never", "not now", "")
			}
			if g.chance(4) {
				decision["interrupt"] = g.chance(2)
			}
			if g.chance(3) {
				decision["updatedInput"] = map[string]any{"n": 3}
			}
			out["decision"] = decision
		}
	}
}

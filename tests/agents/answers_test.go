package agents_test

import "maps"

// answer is a JSON answer of a hook, most of it as the agent documents.
func (g *groupMaker) answer() string {
	out := map[string]any{}
	maybe := func(n int, key string, values ...any) {
		if g.chance(n) {
			out[key] = choose(g.dice, values...)
		}
	}
	maybe(2, "decision", "deny", "deny", "block", "allow", "ask", "approve", "DENY", nil, 5, "")
	maybe(2, "reason", "because", "no", "a\nb", "", 7, nil)
	maybe(8, "continue", false, false, true, "false", nil, 0)
	maybe(8, "stopReason", "halt", "", nil)
	maybe(5, "systemMessage", "note", "look", "", nil)
	maybe(8, "suppressOutput", true, false, "yes", 0)
	if g.chance(2) {
		out["hookSpecificOutput"] = g.specific()
	}
	if g.chance(15) {
		out["unknown"] = 1
	}
	return jsonText(out)
}

// specific is hookSpecificOutput, sometimes of no use.
func (g *groupMaker) specific() any {
	if g.chance(20) {
		return choose[any](g.dice, nil, []any{1}, "x", "", 5, 0, true, false, map[string]any{})
	}
	out := map[string]any{}
	if g.chance(2) {
		out["hookEventName"] = choose(g.dice, g.c.Event, g.c.Event, "AfterTool")
	}
	if g.chance(3) {
		out["additionalContext"] = choose[any](g.dice, "ctx", "more", "<a>", "", 5, nil)
	}
	switch g.c.Event {
	case "BeforeTool":
		if g.chance(2) {
			out["tool_input"] = choose[any](g.dice, map[string]any{"content": "X"}, map[string]any{"file_path": "z", "content": "b"}, map[string]any{"n": 2}, map[string]any{},
				[]any{1}, "x", nil, 5)
		}
	case "AfterAgent":
		if g.chance(3) {
			out["clearContext"] = choose[any](g.dice, true, false, "true")
		}
	case "AfterTool":
		if g.chance(4) {
			out["tailToolCallRequest"] = map[string]any{"name": "read_file", "args": map[string]any{}}
		}
	case "BeforeModel":
		maps.Copy(out, g.request())
	case "AfterModel":
		if g.chance(2) {
			out["llm_response"] = g.response()
		}
	case "BeforeToolSelection":
		if !g.chance(4) {
			out["toolConfig"] = g.tools()
		}
	default:
		g.qwenSpecific(out)
	}
	return out
}

func (g *groupMaker) request() map[string]any {
	out := map[string]any{}
	if !g.chance(3) {
		request := map[string]any{}
		if g.chance(2) {
			request["model"] = choose(g.dice, "m1", "m2")
		}
		if g.chance(3) {
			request["config"] = choose(g.dice, map[string]any{"temperature": 0}, map[string]any{"topP": 0.5, "topK": 1}, map[string]any{"maxOutputTokens": 10})
		}
		if g.chance(4) {
			request["messages"] = choose(g.dice, []any{map[string]any{"role": "user", "content": "other"}},
				[]any{map[string]any{"role": "user", "content": "hi"}, map[string]any{"role": "model", "content": "no"}, map[string]any{"role": "user", "content": "more"}})
		}
		out["llm_request"] = request
	}
	if g.chance(6) {
		out["llm_response"] = g.response()
	}
	return out
}

func (g *groupMaker) response() map[string]any {
	return map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": choose(g.dice, []any{"in"}, []any{"a", "b"}, []any{})}}}}
}

func (g *groupMaker) tools() any {
	if g.chance(20) {
		return choose[any](g.dice, nil, "x", 5, []any{})
	}
	out := map[string]any{}
	if !g.chance(5) {
		out["mode"] = choose[any](g.dice, "AUTO", "ANY", "NONE", "any", nil)
	}
	if !g.chance(4) {
		out["allowedFunctionNames"] = choose[any](g.dice, []any{"b", "a"}, []any{"c", "a"}, []any{}, []any{"read_file"}, "ab", nil)
	}
	return out
}

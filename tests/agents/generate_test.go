package agents_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// settings is the configuration as the agent's settings.json.
func (c *nativeCase) settings() map[string]any {
	config := map[string]any{"disabled": c.Disabled}
	if !c.Enabled {
		config["enabled"] = false
	}
	return map[string]any{"hooks": c.Hooks, "hooksConfig": config}
}

var geminiEvents = []string{
	"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
	"SessionStart", "SessionEnd", "Notification", "PreCompress",
}

// dice makes the choices of one case.
type dice struct{ *rand.Rand }

// chance is true in one of n throws.
func (d dice) chance(n int) bool { return d.IntN(n) == 0 }

func choose[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// newGeminiCase is case number id of a seed, in the folder cwd.
func newGeminiCase(seed uint64, id int, cwd string) *nativeCase {
	d := dice{rand.New(rand.NewPCG(seed, uint64(id)))}
	c := &nativeCase{ID: id, Cwd: cwd, Session: choose(d, "s1", "s1", "s1", "s 1", "a'b"), Event: d.event(), Enabled: !d.chance(60), Disabled: []string{}}
	c.Input = d.input(c)
	g := &groupMaker{dice: d, c: c}
	c.Hooks = map[string]any{c.Event: g.groups()}
	if d.chance(4) {
		other := choose(d, geminiEvents...)
		if other != c.Event {
			c.Hooks[other] = (&groupMaker{dice: d, c: c, used: 50}).groups()
		}
	}
	if d.chance(25) {
		c.Hooks[choose(d, "PreToolUse", "beforetool", "enabled", "notifications", "disabled")] = choose[any](d, g.groups(), true, []any{"x"})
	}
	if d.chance(60) {
		c.Hooks[c.Event] = choose[any](d, map[string]any{"hooks": []any{}}, "none", nil, []any{})
	}
	if d.chance(8) && len(g.ids) > 0 {
		c.Disabled = append(c.Disabled, choose(d, g.ids...), choose(d, "nobody", "a", "unknown-hook"))
	}
	return c
}

// event favours those with most rules.
func (d dice) event() string {
	if d.chance(3) {
		return "BeforeTool"
	}
	return choose(d, geminiEvents...)
}

// input is what the agent would send.
func (d dice) input(c *nativeCase) map[string]any {
	in := map[string]any{
		"session_id": c.Session, "transcript_path": choose(d, "", "/t.json"), "cwd": c.Cwd, "hook_event_name": c.Event,
		"timestamp": "2026-01-01T00:00:00.000Z",
	}
	request := map[string]any{
		"model": "m0", "messages": []any{map[string]any{"role": "user", "content": "hi"}, map[string]any{"role": "model", "content": "yes"}},
		"config": choose(d, map[string]any{}, map[string]any{"topP": 1}, map[string]any{"temperature": 0.5, "topK": 3}),
	}
	switch c.Event {
	case "BeforeTool", "AfterTool":
		in["tool_name"] = choose(d, "write_file", "write_file", "replace", "read_file", "run_shell_command", "mcp_srv_write_file", "[odd", "write_file|replace", "naïve")
		in["tool_input"] = choose(d, map[string]any{"file_path": "a", "content": "b"}, map[string]any{"command": "ls", "n": 1}, map[string]any{})
		if d.chance(6) {
			in["original_request_name"] = "first_tool"
		}
		if d.chance(8) {
			in["mcp_context"] = map[string]any{"server_name": "srv", "tool_name": "write_file"}
		}
		if c.Event == "AfterTool" {
			response := map[string]any{"llmContent": "done", "returnDisplay": "done"}
			if d.chance(3) {
				response["error"] = map[string]any{"message": "it broke", "type": "x"}
			}
			in["tool_response"] = response
		}
	case "BeforeAgent":
		in["prompt"] = choose(d, "do it", "fix\nthis", "")
	case "AfterAgent":
		in["prompt"], in["prompt_response"], in["stop_hook_active"] = "do it", "did it", d.chance(3)
	case "BeforeModel", "BeforeToolSelection":
		in["llm_request"] = request
	case "AfterModel":
		in["llm_request"] = request
		in["llm_response"] = map[string]any{"text": "out", "candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": []any{"out"}}, "finishReason": "STOP", "index": 0}}}
	case "SessionStart":
		in["source"] = choose(d, "startup", "resume", "clear")
	case "SessionEnd":
		in["reason"] = choose(d, "exit", "clear")
	case "Notification":
		in["notification_type"], in["message"], in["details"] = "ToolPermission", "Tool x requires execution", map[string]any{"type": "exec", "title": "x"}
	case "PreCompress":
		in["trigger"] = choose(d, "auto", "manual")
	}
	return in
}

// groupMaker writes the groups of one event.
type groupMaker struct {
	dice
	c *nativeCase
	// used counts the hooks, each of which has a number of its own.
	used int
	// commands and ids are those of earlier hooks.
	commands, ids []string
}

// groups may hold what the agent passes over.
func (g *groupMaker) groups() []any {
	var out []any
	for range 1 + g.IntN(3) {
		if g.chance(40) {
			out = append(out, choose[any](g.dice, nil, "x", 5, map[string]any{"hooks": "x"}, map[string]any{"matcher": "*"}, []any{}))
			continue
		}
		group := map[string]any{"hooks": g.hooks()}
		if !g.chance(2) {
			group["matcher"] = g.matcher()
		}
		if g.chance(4) {
			group["sequential"] = choose[any](g.dice, true, true, true, false, "true", 1)
		}
		out = append(out, group)
	}
	return out
}

// hooks may hold what the agent passes over. Of type runtime there are none:
// settings cannot give such a hook anything to do, but in Gemini CLI it still
// makes its group count as sequential, and in hookc it does not.
func (g *groupMaker) hooks() []any {
	out := []any{}
	for range choose(g.dice, 0, 1, 1, 1, 2, 2, 3) {
		if g.chance(50) {
			out = append(out, choose[any](g.dice, nil, "echo", map[string]any{"type": "command"}, map[string]any{"type": "command", "command": ""},
				map[string]any{"type": "shell", "command": "exit 2"}, map[string]any{"command": "exit 2"}))
			continue
		}
		out = append(out, g.hook())
	}
	return out
}

func (g *groupMaker) hook() map[string]any {
	g.used++
	command := g.command(fmt.Sprintf("h%d", g.used))
	if g.chance(8) && len(g.commands) > 0 {
		command = choose(g.dice, g.commands...)
	}
	g.commands = append(g.commands, command)
	h := map[string]any{"type": "command", "command": command}
	if g.chance(30) {
		h["type"] = "plugin"
	}
	id := command
	if g.chance(4) {
		id = choose(g.dice, "a", "b", "c")
		h["name"] = id
	} else if g.chance(20) {
		h["name"] = ""
	}
	g.ids = append(g.ids, id)
	if g.chance(6) {
		h["env"] = map[string]any{"FOO": choose(g.dice, "bar", "b z", ""), "GEMINI_SESSION_ID": "mine"}
	}
	if strings.HasSuffix(command, asleep) {
		h["timeout"] = 1500
	} else if g.chance(10) {
		h["timeout"] = choose[any](g.dice, 30000, 60000, 45000.5)
	}
	if g.chance(20) {
		h["description"] = "says " + id
	}
	return h
}

// toolMatchers are read as JavaScript does, odd ones included.
var toolMatchers = []any{
	"", "*", " * ", "write_file", " write_file ", "write", "WRITE_FILE", "write_file|replace", "read_file | write_file", "^(?!read_).*", "(?<=write)_file",
	"(?i)write", "*write*", "write_file(", "[odd", "mcp_.*", "mcp_srv_*", `\w+_file$`, "^write_file$|^read", ".", "write.?file", `\bfile`,
	`^\w+$`, "[^a-z_]", `\d`, `(?<n>w)ri`, `(.)\1`, `\u0077rite`, `\x77rite`, "w{1}", "w{,1}", "w{2,1}", "(?:)", "()", "[]", "[^]", `\p{L}`, `\cA`,
	"x*", "(?=.*file)", "replace|^$", "naïve", `na\Sve`, "na.ve", `\k<n>`, `(?<n>e)\k<n>`, `[\w-]+`, "a-z", "+", "?", "a**", "(?<!mcp_srv_)write", "$^",
	`write_file\|replace`, "{", "}", "]", "w{", `\_file`, `[\b]`, `\Bfile`, `(?:write|read)_file$`, "^[^_]+$", `\0`, `\8`, "(?<1>w)", "(?>w)", "(?P<n>w)", `\Awrite`, `file\z`, `file\Z`,
	`\h`, `[[:alpha:]]`, `\Qwrite\E`, `(?#c)w`, "w++", `\//`, "(?s)w", "[z-a]", `[\d-x]`, "é", 5, true, nil, 0, false, []any{}, map[string]any{},
}

var triggerMatchers = []any{
	"", "*", "startup", "start", "startup|resume", " resume ", "STARTUP", "exit", "clear", "auto", "manual", ".*", "[", 5, nil,
}

func (g *groupMaker) matcher() any {
	switch g.c.Event {
	case "BeforeTool", "AfterTool", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest":
		if g.chance(2) {
			return choose(g.dice, toolMatchers[:12]...)
		}
		return choose(g.dice, toolMatchers...)
	case "SessionStart", "SessionEnd", "PreCompress":
		return choose(g.dice, triggerMatchers...)
	case "SubagentStart", "SubagentStop", "StopFailure", "PreCompact", "PostCompact", "Notification":
		return choose(g.dice, qwenMatchers...)
	}
	return choose[any](g.dice, "", "*", "Nope", "write_file", "[", 5)
}

// asleep ends the scripts that are to run out of time, by far: a busy machine
// must not decide a case.
const asleep = "exec sleep 8"

// command is a hook's script: it notes that it ran, keeps what it was sent
// where it is asked to, and says something.
func (g *groupMaker) command(id string) string {
	script := "echo " + id + " >>ledger; "
	if g.chance(4) {
		script += "cat >in." + id + "; "
	}
	if g.chance(500) {
		return script + "printf '%s' '" + `{"decision":"deny","reason":"too late"}` + "'; " + asleep
	}
	switch g.IntN(40) {
	case 0:
		return script + "no_such_command_here"
	case 1:
		return script + choose(g.dice, "printf dying; kill -KILL $$", "printf dying >&2; kill -TERM $$")
	case 2:
		return script + `printf '%s' "$GEMINI_SESSION_ID|$GEMINI_CWD|$FOO"` + exit(choose(g.dice, 0, 1, 2))
	case 3:
		return script + `printf '%s|%s' "${CLAUDE_PROJECT_DIR}" $GEMINI_PROJECT_DIRX`
	}
	code := choose(g.dice, 0, 0, 0, 0, 1, 2, 2, 3, 127)
	stdout, stderr := "", ""
	switch g.IntN(10) {
	case 0: // silent
	case 1:
		stdout = g.text()
	case 2:
		stderr = g.text()
	case 3:
		stdout, stderr = g.text(), g.text()
	case 4:
		stdout = choose(g.dice, oddOutputs...)
	case 5:
		stderr = choose(g.dice, g.answer(), choose(g.dice, oddOutputs...))
	default:
		stdout = g.answer()
		if g.chance(5) {
			stderr = g.text()
		}
	}
	if stdout != "" {
		script += "printf '%s' " + quote(stdout) + "; "
	}
	if stderr != "" {
		script += "printf '%s' " + quote(stderr) + " >&2; "
	}
	return strings.TrimSuffix(script, "; ") + exit(code)
}

func exit(code int) string {
	if code == 0 {
		return ""
	}
	return fmt.Sprintf("; exit %d", code)
}

// quote is text as one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func (g *groupMaker) text() string {
	return choose(g.dice, "plain", "two\nlines", "  padded  ", "\n\n", "x", "deny", "Warning: y", "{not json", "<b>&amp;</b>", "naïve\t✓") + choose(g.dice, "", "", "1", "2")
}

// oddOutputs are JSON, or nearly, that no one should write.
var oddOutputs = []string{
	"42", "null", "true", "false", `[1]`, `[]`, `{}`, `"hi"`, `""`, `"{\"decision\":\"deny\",\"reason\":\"nested\"}"`, `"42"`, `"null"`, "\ufeff" + `{"decision":"deny","reason":"bom"}`,
	`{"decision":"allow"} {"decision":"deny"}`, `{"decision":"deny","decision":"allow"}`, `{"decision":"deny",}`, "// note\n" + `{"decision":"deny"}`,
	"  \n" + `{"decision":"block","reason":"padded"}` + "\n\n", `{'decision':'deny'}`, `{"decision":"deny"`, `-0`, `1e400`, `NaN`, `[{"decision":"deny"}]`,
	`{"decision":"deny","reason":"\ud800"}`, "\u00a0" + `{"decision":"deny"}`, `{"decision":"deny","reason":"tab	inside"}`, "text\n" + `{"decision":"deny"}`,
	`{"decision":"deny","reason":"a"}` + "\v", `01`, `"\x"`, "\u2028", `{"Decision":"deny"}`, `{"__proto__":{"decision":"deny"}}`,
}

package agent

import (
	"maps"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// cursor is that of Cursor. An answer is always JSON: with failClosed an empty
// one is a failure. Saying nothing is {}, not an approval. Exit status 2
// refuses too, but without a message, so refusals go as JSON.
var cursorAgent, _ = Agent{
	ID: "cursor", Version: "3.9", Aliases: []string{"cursor-agent"},
	Doc:      "Cursor: JSON on stdout, exit code 0",
	eventKey: "hook_event_name",
	keys: lists.Concat(
		[]key{
			{name: "error", field: policy.FieldToolError, use: read},
			{name: "conversation_id", field: policy.FieldSessionID},
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
			{name: "tool_output", field: policy.FieldToolResult},
			{name: "error_message", field: policy.FieldToolError},
			{name: cursorServer, field: policy.FieldMCP, use: sent},
			{name: "text", field: policy.FieldAssistantOutput, at: []policy.Event{policy.PostLLMResponse}, use: here},
			{name: "task", field: policy.FieldTaskDescription},
			{name: "status", field: policy.FieldStopReason, at: []policy.Event{policy.StopEvent, policy.SubagentStop}, use: sent},
			{name: cursorRoot, field: policy.FieldProjectRoot, use: sent},
		},
		sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
		sameAt([]policy.Event{policy.PreAutoCompact}, policy.FieldTrigger),
		[]key{{name: "stop_hook_active", field: policy.FieldStopHookActive, at: []policy.Event{policy.StopEvent, policy.SubagentStop}, use: read}},
		same(policy.FieldCwd, policy.FieldTranscriptPath, policy.FieldModel, policy.FieldToolName, policy.FieldToolInput, policy.FieldToolUseID,
			policy.FieldSubagentType),
	),
	env:      []envKey{{"CURSOR_PROJECT_DIR", policy.FieldProjectRoot}, {"CLAUDE_PROJECT_DIR", policy.FieldProjectRoot}},
	computed: cursorPoints,
	Profile:  cursorProfile,
	Files: []File{
		{Tier: policy.TierManaged, Base: System, Path: "etc/cursor/hooks.json", Install: Writes, Layout: Flat},
		{Tier: policy.TierProject, Base: Project, Path: ".cursor/hooks.json", Install: Writes, Layout: Flat},
		{Tier: policy.TierUser, Base: Home, Path: ".cursor/hooks.json", Install: Writes, Layout: Flat},
	},
	protects: []string{".cursor/hooks", ".cursor/mcp.json", "~/.cursor/hooks", "~/.cursor/mcp.json", "/etc/cursor"},
	settings: &Settings{
		Handler: Handler{Command: "command", Timeout: "timeout", Closed: "failClosed", ClosedValue: true, Version: true},
		Unit:    time.Second, Standard: time.Minute,
		// preToolUse and the event of the tool's kind both fire; what a matcher
		// looks at differs by event, so none is written.
		Covered: []string{"beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "afterShellExecution", "afterMCPExecution", "afterFileEdit"},
		Reading: Reading{
			Doc: "hooks.json of Cursor", EventKey: "cursor_event", Rejects: true,
			Matcher: MatcherReading{
				Flavour: pattern.ECMAScript, Star: true,
				NotText:    "a matcher is text; this is %s: the hook is passed over",
				NotPattern: "%q is no regular expression (%v): the hook never runs",
				Nothing:    "%s has nothing to match: the matcher is passed over and the hook always runs",
			},
			Hook: HookReading{
				Types: []string{"command", "prompt"}, NotRun: "a hook is of type command or prompt: it is passed over",
				Fails: []string{"prompt"}, Failing: "hookc runs no prompts of Cursor: the hook fails each time and is in every decision",
				FailHint: "leave it in Cursor's own settings, or write it as a command", Failure: "hookc runs no prompts of Cursor",
				Timeouts: TimeoutsSeconds,
			},
		},
		Trust: "Cursor runs a project's hooks only in a trusted workspace",
	},
	// The replacement of a result is taken from MCP tools alone.
	fits: func(c *Call, f policy.Field, v any) bool {
		return f != policy.FieldToolResult && f.Spec().Type.Holds(v) || strings.HasPrefix(c.Context.Text(policy.FieldToolName), "MCP:")
	},
	deliver: deliverCursor,
	refuseUnknown: func(reason string) Wire {
		return reply{"permission": "deny", "continue": false, "user_message": reason}.wire(2, reason)
	},
	scripts: scripts{
		shape: sendCursor,
		env:   []envKey{{"CURSOR_PROJECT_DIR", policy.FieldProjectRoot}, {"CURSOR_TRANSCRIPT_PATH", policy.FieldTranscriptPath}},
		read:  readCursor,
	},
}, register(cursorAgent)

// cursorPoints lists the events. What is sent is marked with the agent's own
// name of the event, since several are one of ours and a hook is configured
// for one of them.
func cursorPoints() []point {
	out := []point{
		{name: "preToolUse", event: policy.PreToolExecution, may: MayAllow | MayDeny, writes: []policy.Field{policy.FieldToolInput}, shape: shapeCursor},
		// A question acts as a refusal where a command runs, and is passed over
		// before other tools.
		{name: "beforeShellExecution", event: policy.PreToolExecution, may: MayAllow | MayAsk | MayDeny, shape: shapeCursorShell, at: At{Field: policy.FieldCommand}},
		{name: "beforeMCPExecution", event: policy.PreToolExecution, may: MayAllow | MayAsk | MayDeny, shape: shapeCursorMCP},
		{name: "beforeReadFile", event: policy.PreToolExecution, may: MayAllow | MayDeny, shape: shapeCursorRead},
		{name: "beforeTabFileRead", event: policy.PreToolExecution, may: MayAllow | MayDeny, shape: shapeCursorRead},
		{name: "postToolUse", event: policy.PostToolExecution, may: MayContext, writes: []policy.Field{policy.FieldToolResult}, shape: shapeCursor},
		{name: "afterShellExecution", event: policy.PostToolExecution, shape: shapeCursorShell, at: At{Field: policy.FieldCommand}},
		{name: "afterMCPExecution", event: policy.PostToolExecution, shape: shapeCursorMCP},
		{name: "afterFileEdit", event: policy.PostToolExecution, shape: shapeCursorEdit},
		{name: "afterTabFileEdit", event: policy.PostToolExecution, shape: shapeCursorEdit},
		{name: "postToolUseFailure", event: policy.PostToolExecutionFailure, may: MayContext, shape: shapeCursor},
		{name: "beforeSubmitPrompt", event: policy.PreSendMessage, may: MayDeny, shape: shapeCursor, at: At{Field: policy.FieldUserInput}},
		{name: "stop", event: policy.StopEvent, may: MayDeny, shape: shapeCursorStop, at: At{Loops: "loop_limit", LoopCount: "loop_count", MaxLoops: 5}},
		{name: "subagentStop", event: policy.SubagentStop, may: MayDeny, shape: shapeCursorStop, at: At{Field: policy.FieldSubagentType, Loops: "loop_limit", LoopCount: "loop_count", MaxLoops: 5}},
		{name: "subagentStart", event: policy.SubagentStart, may: MayDeny, shape: shapeCursor, at: At{Field: policy.FieldSubagentType}},
		{name: "sessionStart", event: policy.SessionStart, may: MayContext, shape: shapeCursor},
		{name: "sessionEnd", event: policy.SessionEnd, shape: shapeCursor},
		{name: "preCompact", event: policy.PreAutoCompact, may: MaySystem, shape: shapeCursor},
		{name: "afterAgentResponse", event: policy.PostLLMResponse, shape: shapeCursor},
		{name: "afterAgentThought", event: "ext.afterAgentThought", shape: shapeCursor},
		{name: "workspaceOpen", event: "ext.workspaceOpen", shape: shapeCursor},
	}
	for i := range out {
		name, of := out[i].name, out[i].shape
		form := of.form
		form.Ignored = append([]string{"cursor_event"}, form.Ignored...)
		out[i].shape = &shape{func(sent map[string]any) {
			of.do(sent)
			sent["cursor_event"] = name
		}, form}
	}
	return out
}

// cursorWorkspace names the folders of the workspace, the first of which is the
// project.
//
//go:noinline
func cursorWorkspace(sent map[string]any) {
	roots, _ := sent["workspace_roots"].([]any)
	if len(roots) == 0 {
		return
	}
	if root, ok := roots[0].(string); ok && root != "" {
		sent["project_root"] = root
		if sent["cwd"] == nil || sent["cwd"] == "" {
			sent["cwd"] = root
		}
	}
}

var shapeCursor = &shape{cursorWorkspace, Form{Shape: ShapeWorkspace}}

// move gives a key of the event a place in the call's input.
//
//go:noinline
func move(sent map[string]any, input map[string]any, keys ...string) {
	for _, k := range keys {
		if v, ok := sent[k]; ok {
			input[k] = v
			delete(sent, k)
		}
	}
}

var shapeCursorShell = &shape{func(sent map[string]any) {
	input := map[string]any{}
	move(sent, input, "command")
	if len(input) > 0 {
		sent["tool_name"], sent["tool_input"] = "Shell", input
	}
	if v, ok := sent["output"]; ok {
		sent["tool_output"] = v
		delete(sent, "output")
	}
	cursorWorkspace(sent)
}, Form{Shape: ShapeWorkspace, Tool: "Shell", Moved: []string{"command"}, Ignored: []string{"output", "tool_output"}}}

// shapeCursorMCP reads the input of an MCP call from its text.
var shapeCursorMCP = &shape{func(sent map[string]any) {
	if text, ok := sent["tool_input"].(string); ok {
		sent["tool_input"] = objectIn(text)
	}
	if name, ok := sent["tool_name"].(string); ok && name != "" && !strings.HasPrefix(name, "MCP:") {
		sent["tool_name"] = "MCP:" + name
	}
	server := map[string]any{}
	move(sent, server, "url", "command")
	if len(server) > 0 {
		sent["mcp"] = server
	}
	if v, ok := sent["result_json"]; ok {
		sent["tool_output"] = v
		delete(sent, "result_json")
	}
	cursorWorkspace(sent)
}, Form{Shape: ShapeUnknown}}

// objectIn is the object that text holds; text that holds none stays text,
// which no call has as its input.
func objectIn(text string) any {
	if text == "" {
		return map[string]any{}
	}
	if v, err := policy.DecodeJSON([]byte(text)); err == nil {
		return v
	}
	return text
}

var shapeCursorRead = &shape{func(sent map[string]any) {
	input := map[string]any{}
	move(sent, input, "file_path", "content", "attachments")
	if len(input) > 0 {
		sent["tool_name"], sent["tool_input"] = "Read", input
	}
	cursorWorkspace(sent)
}, Form{Shape: ShapeWorkspace, Tool: "Read", Moved: []string{"file_path", "content", "attachments"}}}

var shapeCursorEdit = &shape{func(sent map[string]any) {
	input := map[string]any{}
	move(sent, input, "file_path", "edits")
	sent["tool_name"], sent["tool_input"] = "Edit", input
	cursorWorkspace(sent)
}, Form{Shape: ShapeWorkspace, Tool: "Edit", Moved: []string{"file_path", "edits"}, AlwaysTool: true}}

// shapeCursorStop: the agent counts how often it was kept going.
var shapeCursorStop = &shape{func(sent map[string]any) {
	n, _ := sent["loop_count"].(int)
	sent["stop_hook_active"] = n > 0
	if v, ok := sent["status"]; ok {
		sent["stop_reason"] = v
	}
	cursorWorkspace(sent)
}, Form{Shape: ShapeWorkspace, Ignored: []string{"loop_count", "stop_hook_active", "status", "stop_reason"}}}

func deliverCursor(a *answer) Wire {
	out := reply{}
	switch a.point.event {
	case policy.PreToolExecution, policy.SubagentStart:
		switch a.act {
		case allow, ask, deny:
			out["permission"] = a.act.String()
		}
		out.text("user_message", a.reason)
		out.text("agent_message", a.reason)
	case policy.PreSendMessage:
		if a.act == deny {
			out["continue"], out["user_message"] = false, a.reason
		}
	case policy.StopEvent, policy.SubagentStop:
		if a.act == deny {
			out["followup_message"] = a.reason
		}
	case policy.PreAutoCompact:
		out.text("user_message", a.systemText())
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		out["updated_input"] = input
	}
	if v, ok := a.patch[policy.FieldToolResult]; ok {
		out["updated_mcp_tool_output"] = v
	}
	out.text("additional_context", a.contextText())
	if len(out) == 0 {
		return Wire{Stdout: []byte("{}\n")}
	}
	return out.wire(0, "")
}

// cursorProfile is how Cursor runs its hooks: those of the machine before the
// project's and the user's. Whether they wait for each other its documents do
// not say; here all run at once and the most restrictive answer holds
// (docs/reference/dialects, cursor §4.3).
var cursorProfile = &Profile{
	Tools: []string{"Shell", "Read", "Write", "Edit", "Grep", "Delete", "Task", "Glob", "WebSearch"},
	Open:  []string{"MCP:*"},
	Rules: func(bool) policy.Profile {
		rows := map[policy.Event]func(*policy.EventSpec){
			policy.SessionStart: watches(true), policy.SessionEnd: watches(false),
			policy.PreSendMessage: kimiObeys,
			policy.PreToolExecution: func(s *policy.EventSpec) {
				s.Powers, s.Context = policy.MayAllow|policy.MayAsk|policy.MayDeny, false
			},
			policy.PostToolExecution: func(s *policy.EventSpec) {
				s.Powers, s.Class, s.Context = 0, policy.Transform, true
			},
			policy.PostToolExecutionFailure: func(s *policy.EventSpec) {
				s.Powers, s.Writes = 0, nil
			},
			policy.PostLLMResponse: watches(false), policy.PreAutoCompact: watches(false),
			policy.StopEvent: obeys(policy.MayDeny, false), policy.SubagentStop: obeys(policy.MayDeny, false),
			policy.SubagentStart:    obeys(policy.MayAllow|policy.MayDeny, false),
			"ext.afterAgentThought": watches(false), "ext.workspaceOpen": watches(false),
		}
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, adjust := range rows {
			rules.Strategies[event] = &policy.StrategySpec{
				Strategy: "cursor", Snapshot: true, Halt: policy.HaltNever,
				Fold:  policy.FoldMax,
				Doc:   "all run on one snapshot, the most restrictive wins",
				Rules: policy.Rules{Row: adjust, Supersede: supersede.LaterChange},
			}
		}
		return rules
	},
}

// cursorServer and cursorRoot mark values that shape puts in their places.
const cursorServer, cursorRoot = "mcp.server", "project.root"

// sendCursor turns a call into the shape of the event of its kind.
func sendCursor(out map[string]any) {
	if id, ok := out["conversation_id"]; ok {
		out["session_id"] = id
	}
	if _, ok := out["workspace_roots"]; !ok && out[cursorRoot] != nil {
		out["workspace_roots"] = []any{out[cursorRoot]}
	}
	server, _ := out[cursorServer].(map[string]any)
	delete(out, cursorServer)
	delete(out, cursorRoot)
	delete(out, "cursor_event")
	input, _ := out["tool_input"].(map[string]any)
	flat := func(result string) {
		delete(out, "tool_input")
		delete(out, "tool_name")
		maps.Copy(out, input)
		if v, ok := out["tool_output"]; ok && result != "" {
			out[result] = JSONText(v)
			delete(out, "tool_output")
		}
	}
	switch out["hook_event_name"] {
	case "beforeShellExecution", "afterShellExecution":
		flat("output")
	case "beforeReadFile", "beforeTabFileRead", "afterFileEdit", "afterTabFileEdit":
		flat("")
	case "beforeMCPExecution", "afterMCPExecution":
		if name, ok := out["tool_name"].(string); ok {
			out["tool_name"] = strings.TrimPrefix(name, "MCP:")
		}
		out["tool_input"] = JSONText(out["tool_input"])
		maps.Copy(out, server)
		if v, ok := out["tool_output"]; ok {
			out["result_json"] = JSONText(v)
			delete(out, "tool_output")
		}
	}
}

// readCursor takes an object at status 0. Every other status but 2, and what
// is not JSON, is a failure, which failClosed makes a refusal.
func readCursor(a output) (policy.Result, error) {
	d := a.draft()
	text := strings.TrimSpace(a.Stdout)
	switch {
	case a.Exit == 2:
		d.verdict(policy.Deny, a.complaint("blocked by "+a.by.Name+" (exit status 2)"))
		return d.done()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	case text == "" && !a.strict:
		return policy.Result{}, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	d.cursorObject(d.object(m))
	return d.done()
}

func (d *draft) cursorObject(o fields) {
	reason := o.text("agent_message")
	if reason == "" {
		reason = o.text("user_message")
	}
	switch d.event {
	case policy.PreToolExecution, policy.SubagentStart:
		d.cursorPermission(o.text("permission"), reason)
	case policy.PreSendMessage:
		if on, ok := o.flag("continue"); ok && !on {
			d.verdict(policy.Deny, reason)
		}
	case policy.StopEvent, policy.SubagentStop:
		if text := o.text("followup_message"); text != "" {
			d.verdict(policy.Deny, text)
		}
	case policy.PreAutoCompact:
		d.system(o.text("user_message"))
	}
	if input := o.sub("updated_input"); input.m != nil {
		if d.event == policy.PreToolExecution && (d.native == "" || d.native == "preToolUse") {
			d.replace(policy.FieldToolInput, input.m)
		} else {
			d.warn("updated_input is taken at preToolUse alone")
		}
	}
	if o.has("updated_mcp_tool_output") {
		if strings.HasPrefix(d.in.Text(policy.FieldToolName), "MCP:") {
			d.replace(policy.FieldToolResult, o.m["updated_mcp_tool_output"])
		} else {
			d.warn("updated_mcp_tool_output is taken of MCP tools alone")
		}
	}
	d.context(o.text("additional_context"))
	if o.has("env") {
		d.warn("env of a hook does not reach the session through hookc")
	}
}

// cursorPermission reads a decision. Cursor documents ask everywhere, but
// passes over it before tools in general and refuses a command.
func (d *draft) cursorPermission(word, reason string) {
	switch {
	case word == "ask" && d.faithful && d.native == "preToolUse":
		d.warn("Cursor passes over ask at preToolUse")
	case word == "ask" && d.faithful && d.native == "beforeShellExecution", word == "ask" && d.event == policy.SubagentStart:
		d.verdict(policy.Deny, reason)
	default:
		d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}, word, reason)
	}
}

package agent

import (
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// copilot is that of GitHub Copilot CLI, under the camelCase names of its
// events and, as VS Code has them too, the PascalCase ones with snake_case
// input. camelCase input does not name the event. Before a tool any status but
// 0 refuses.
var copilotAgent, _ = Agent{
	ID: "copilot", Version: "1", Aliases: []string{"copilot-cli", "github-copilot"},
	Doc:      "GitHub Copilot CLI: JSON on stdout, exit code 0",
	eventKey: "hook_event_name", unnamed: true,
	keys: lists.Concat(
		[]key{
			{name: "tool_response", field: policy.FieldToolResult, use: read}, {name: "tool_result", field: policy.FieldToolResult, use: read},
			{name: "agent_name", field: policy.FieldSubagentName, use: read},
			{name: "sessionId", field: policy.FieldSessionID},
			{name: "transcriptPath", field: policy.FieldTranscriptPath},
			{name: "toolName", field: policy.FieldToolName},
			{name: "toolArgs", field: policy.FieldToolInput},
			{name: "toolResult", field: policy.FieldToolResult},
			{name: "error", field: policy.FieldToolError},
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage, policy.PostSendMessage}},
			{name: "stopReason", field: policy.FieldStopReason, at: []policy.Event{policy.StopEvent, policy.SubagentStop}},
			{name: "agentName", field: policy.FieldSubagentName},
			{name: "notificationType", field: policy.FieldNotificationType, at: []policy.Event{policy.Notify}, use: sent},
			// VS Code's.
			{name: "tool_use_id", field: policy.FieldToolUseID, use: read},
			{name: "agent_id", field: policy.FieldAgentID, use: read}, {name: "agent_type", field: policy.FieldAgentType, use: read},
			{name: "stop_hook_active", field: policy.FieldStopHookActive, at: []policy.Event{policy.StopEvent}, use: read},
		},
		same(policy.FieldTimestamp, policy.FieldCwd, policy.FieldMessage, policy.FieldTitle),
		sameAt([]policy.Event{policy.SessionStart}, policy.FieldSource),
		sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
		sameAt([]policy.Event{policy.PreAutoCompact}, policy.FieldTrigger),
	),
	computed: copilotPoints,
	Profile:  copilotProfile,
	Files: []File{
		{Tier: policy.TierManaged, Base: System, Path: "etc/github-copilot/policy.d/*.json", Install: Writes, Layout: Flat, Own: "hookc.json"},
		{Tier: policy.TierUser, Base: Home, Path: ".copilot/hooks/*.json", Install: Writes, Layout: Flat, Own: "hookc.json"},
		{Tier: policy.TierUser, Base: Home, Path: ".copilot/settings.json"},
		{Tier: policy.TierProject, Base: Project, Path: ".github/hooks/*.json", Install: Writes, Layout: Flat, Own: "hookc.json"},
	},
	protects: []string{"~/.copilot", "/etc/github-copilot"},
	settings: &Settings{
		Handler: Handler{Type: "command", Command: "bash", Also: []string{"command", "powershell"}, Timeout: "timeoutSec", Version: true},
		Unit:    time.Second, Standard: 30 * time.Second,
		Matchers: wrapped,
		// VS Code's names of the same events.
		Covered: []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
			"Stop", "SubagentStart", "SubagentStop", "ErrorOccurred", "PreCompact", "Notification"},
		Switches: []Switch{{Path: "disableAllHooks", Off: true, Ranks: []policy.Tier{policy.TierManaged, policy.TierProject, policy.TierUser}}},
		Reading: Reading{
			Doc: ".github/hooks/*.json of Copilot CLI", Also: []string{"policy.d/*.json"},
			Matcher: MatcherReading{
				Flavour: pattern.ECMAScript, Whole: true,
				NotText:    "a matcher is text; this is %s: the hook is passed over",
				NotPattern: "%q is no regular expression (%v): the hook is passed over",
				Nothing:    "%s has nothing to match: the matcher is passed over and the hook always runs",
			},
			Hook: HookReading{
				Types: []string{"command"}, FailsOther: true, Failure: "hookc runs no such hooks of Copilot",
				Failing: "hookc runs commands of Copilot and nothing else: the hook fails each time and is in every decision",
				Exec:    "exec", Args: "args", Env: "env", Dir: "cwd", Timeouts: TimeoutsSeconds,
			},
		},
	},
	join:    "\n\n",
	deliver: deliverCopilot,
	refuseUnknown: func(reason string) Wire {
		return reply{"permissionDecision": "deny", "permissionDecisionReason": reason}.wire(2, reason)
	},
	noticeExit: 1,
	scripts: scripts{
		shape:     sendCopilot,
		read:      readCopilot,
		maxStdout: 10 << 20,
	},
}, register(copilotAgent)

// copilotCalled are Claude Code's names of Copilot's tools, which hooks under
// PascalCase names of their events go by.
var copilotCalled = map[string]string{
	"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob", "web_fetch": "WebFetch", "task": "Task",
}

// copilotPoints lists each event under both of its names.
func copilotPoints() []point {
	var out []point
	for _, row := range []struct {
		names []string
		point point
	}{
		{[]string{"sessionStart", "SessionStart"}, point{event: policy.SessionStart}},
		{[]string{"sessionEnd", "SessionEnd"}, point{event: policy.SessionEnd}},
		{[]string{"userPromptSubmitted", "UserPromptSubmit"}, point{event: policy.PreSendMessage}},
		{[]string{"userPromptTransformed"}, point{event: policy.PostSendMessage}},
		{[]string{"preToolUse", "PreToolUse"}, point{event: policy.PreToolExecution, at: At{FailureRefuses: true}, may: MayAllow | MayAsk | MayDeny,
			writes: []policy.Field{policy.FieldToolInput}}},
		{[]string{"permissionRequest", "PermissionRequest"}, point{event: policy.PermissionRequest, may: MayAllow | MayDeny | MayEnd}},
		{[]string{"postToolUse", "PostToolUse"}, point{event: policy.PostToolExecution, may: MayContext, writes: []policy.Field{policy.FieldToolResult}}},
		{[]string{"postToolUseFailure", "PostToolUseFailure"}, point{event: policy.PostToolExecutionFailure}},
		{[]string{"agentStop", "Stop"}, point{event: policy.StopEvent, may: MayDeny}},
		{[]string{"subagentStart", "SubagentStart"}, point{event: policy.SubagentStart, at: At{Field: policy.FieldSubagentName}}},
		{[]string{"subagentStop", "SubagentStop"}, point{event: policy.SubagentStop, at: At{Field: policy.FieldSubagentName}}},
		{[]string{"errorOccurred", "ErrorOccurred"}, point{event: policy.StopFailure}},
		{[]string{"preCompact", "PreCompact"}, point{event: policy.PreAutoCompact}},
		{[]string{"notification", "Notification"}, point{event: policy.Notify, at: At{Field: policy.FieldNotificationType}}},
	} {
		for _, name := range row.names {
			p := row.point
			if p.event.Spec().CanRead(policy.FieldToolName) && name[0] <= 'Z' {
				p.at.Called = copilotCalled
			}
			p.name, p.shape = name, &shape{shapeCopilot, Form{Shape: ShapeTextOrNone, Text: "toolArgs", Ignored: []string{"timestamp"}}}
			out = append(out, p)
		}
	}
	return out
}

// shapeCopilot reads arguments sent as text, and the time from milliseconds.
func shapeCopilot(sent map[string]any) {
	if text, ok := sent["toolArgs"].(string); ok {
		sent["toolArgs"] = objectIn(text)
	}
	if ms, ok := sent["timestamp"].(int); ok {
		sent["timestamp"] = time.UnixMilli(int64(ms)).UTC().Format("2006-01-02T15:04:05.000Z")
	}
}

func deliverCopilot(a *answer) Wire {
	out := reply{}
	switch a.point.event {
	case policy.PreToolExecution:
		switch a.act {
		case allow, ask, deny:
			out["permissionDecision"] = a.act.String()
			out.text("permissionDecisionReason", a.reason)
		}
	case policy.PermissionRequest:
		switch a.act {
		case allow:
			out["behavior"] = "allow"
		case deny, end:
			out["behavior"], out["message"] = "deny", a.reason
			out.flag("interrupt", a.act == end)
		}
	case policy.StopEvent:
		if a.act == deny {
			out["decision"], out["reason"] = "block", a.reason
		}
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		out["modifiedArgs"] = input
	}
	if v, ok := a.patch[policy.FieldToolResult]; ok {
		out["modifiedResult"] = copilotResult(a.call, v)
	}
	out.text("additionalContext", a.contextText())
	return out.wire(0, "")
}

// copilotResult is a result in Copilot's shape, of the original's type.
func copilotResult(c *Call, v any) any {
	old, _ := c.Context.Get(policy.FieldToolResult)
	before, _ := old.(map[string]any)
	kind, ok := before["resultType"].(string)
	if !ok {
		kind = "success"
	}
	if m, ok := v.(map[string]any); ok && m["textResultForLlm"] != nil {
		if m["resultType"] == nil {
			return map[string]any{"resultType": kind, "textResultForLlm": JSONText(m["textResultForLlm"])}
		}
		return m
	}
	return map[string]any{"resultType": kind, "textResultForLlm": JSONText(v)}
}

// copilotProfile is how Copilot CLI runs its hooks: one after another in the
// order of the files, each on what those before it changed, until one denies
// (docs/reference/dialects, copilot §4.4).
var copilotProfile = &Profile{
	Tools: []string{"bash", "powershell", "view", "create", "edit", "grep", "glob", "web_fetch", "task", "report_intent", "ask_user", "update_todo",
		"read_bash", "write_bash", "stop_bash", "Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebFetch", "Task"},
	Open: []string{"*-*", "mcp__*"},
	Rules: func(bool) policy.Profile {
		rows := map[policy.Event]func(*policy.EventSpec){
			policy.SessionStart: watches(false), policy.SessionEnd: watches(false), policy.PreSendMessage: watches(false),
			policy.PostSendMessage: watches(false), policy.PostToolExecutionFailure: watches(false),
			policy.SubagentStart: watches(false), policy.SubagentStop: watches(false), policy.StopFailure: watches(false),
			policy.PreAutoCompact: watches(false), policy.Notify: watches(false),
			policy.PreToolExecution: func(s *policy.EventSpec) {
				s.Powers, s.Context = policy.MayAllow|policy.MayAsk|policy.MayDeny, false
			},
			policy.PermissionRequest: func(s *policy.EventSpec) { s.Writes = nil },
			policy.PostToolExecution: func(s *policy.EventSpec) { s.Powers = 0 },
			policy.StopEvent:         obeys(policy.MayDeny, false),
		}
		rules := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, adjust := range rows {
			rules.Strategies[event] = &policy.StrategySpec{
				Strategy: "copilot", Halt: policy.HaltDeny, Fold: policy.FoldMax,
				Doc: "one after another until one denies", Rules: policy.Rules{Row: adjust, Supersede: supersede.ReasonsOfVerdict},
			}
		}
		return rules
	},
}

// copilotSnake are the keys of input under PascalCase names.
var copilotSnake = map[string]string{
	"sessionId": "session_id", "transcriptPath": "transcript_path", "toolName": "tool_name", "toolArgs": "tool_input",
	"toolResult": "tool_result", "stopReason": "stop_reason", "agentName": "agent_name", "notificationType": "notification_type",
}

func sendCopilot(out map[string]any) {
	name, _ := out["hook_event_name"].(string)
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		for from, to := range copilotSnake {
			if v, ok := out[from]; ok {
				out[to] = v
				delete(out, from)
			}
		}
		tool, _ := out["tool_name"].(string)
		if claude, ok := copilotCalled[tool]; ok {
			out["tool_name"] = claude
		}
		return
	}
	delete(out, "hook_event_name") // camelCase input names none
	text, _ := out["timestamp"].(string)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		out["timestamp"] = int(at.UnixMilli())
	}
}

func readCopilot(a output) (policy.Result, error) {
	d := a.draft()
	text := strings.TrimSpace(a.Stdout)
	switch {
	case a.Exit != 0 && a.event == policy.PreToolExecution:
		d.verdict(policy.Deny, a.complaint(a.by.Name+": "+a.failure().Error()))
		return d.done()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	case !strings.HasPrefix(text, "{"): // text is for people
		return policy.Result{}, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	o := d.object(m)
	switch a.event {
	case policy.PreToolExecution:
		d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny},
			o.text("permissionDecision"), o.text("permissionDecisionReason"))
		if input := o.sub("modifiedArgs"); input.m != nil {
			d.replace(policy.FieldToolInput, input.m)
		}
	case policy.PermissionRequest:
		d.decide(words{"allow": policy.Allow, "deny": policy.Deny}, o.text("behavior"), o.text("message"))
		if on, _ := o.flag("interrupt"); on && d.r.Verdict == policy.Deny {
			d.halt(o.text("message"))
		}
	case policy.StopEvent:
		d.decide(words{"block": policy.Deny}, o.text("decision"), o.text("reason"))
	case policy.PostToolExecution:
		if o.has("modifiedResult") {
			d.replace(policy.FieldToolResult, o.m["modifiedResult"])
		}
		d.context(o.text("additionalContext"))
	}
	return d.done()
}

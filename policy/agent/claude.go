package agent

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/form"
	"github.com/hookc/hookc/policy/agent/js"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// claude is Claude Code's. Exit status 2 with the reason on stderr refuses
// whatever is on stdout and in every version, so a refusal is said both ways;
// a permission prompt takes its answer from JSON alone. `defer` is never
// written: outside a headless turn of one call it is passed over.
var _ = register(claudeAt("claude", "2.1.296", []string{"claude-code", "claudecode"}, claudeEvents))

// The older release has no hooks on model switches.
var _ = register(claudeAt("claude@2.1.240", "2.1.240", []string{"claude-code@2.1.240"}, claudeEvents[:len(claudeEvents)-2]))

// claudeTypes are the types of hooks in Claude Code's settings; claudeModels and
// claudeRemote those of them that not every event takes.
var (
	claudeTypes  = []string{"command", "http", "mcp_tool", "prompt", "agent"}
	claudeModels = []string{"prompt", "agent"}
	claudeRemote = []string{"http", "prompt", "agent"}
)

// claudeReading is how Claude Code reads its settings.json, and the hooks.json of
// its plugins, which is written alike.
func claudeReading(old bool) Reading {
	r := Reading{
		Doc:     "settings.json of Claude Code",
		Plugins: ".claude-plugin", PluginEnv: "CLAUDE_PLUGIN_ROOT", Frontmatter: true,
		Matcher: MatcherReading{
			Flavour: pattern.ECMAScript, Star: true, Absent: AbsentHolds, Alias: "Agent", AliasOf: "Task", Servers: true,
			NotText:    "a matcher is text; this is %s: the group is passed over",
			NotPattern: "%q is no regular expression (%v): these hooks never run",
		},
		Hook: HookReading{
			Types: claudeTypes, Typed: true, NotRun: "TYPE is no type of hook: it is passed over", NotRunHint: "types: " + strings.Join(claudeTypes, ", "),
			Prompt: "prompt", PromptTimeout: 30 * time.Second,
			Fails: claudeTypes[1:], Failing: "hookc runs no hooks of type TYPE: this one fails each time and is in every decision",
			FailHint: "leave it in Claude Code's own settings, or write it as a command", Failure: "hookc runs no hooks of type TYPE",
			Args: "args", Shell: "shell", Async: "async", AsyncUnbounded: !old, Timeouts: TimeoutsSeconds,
			If: "if", IfAt: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"},
		},
		Once: OnceEach, Races: true,
	}
	if old {
		r.Hook.OpenOnly = "Claude Code 2.1.240 does not know onFailure: the action goes on when the hook fails"
	}
	return r
}

func claudeAt(id, version string, aliases []string, events []claudeEvent) Agent {
	old := id != "claude"
	computed := func() []point {
		points := make([]point, len(events))
		for i, e := range events {
			points[i] = e.point
			switch {
			case old && e.name == "Setup":
				points[i].at.NoTypes = claudeRemote
			case old && e.event == policy.PermissionRequest:
				points[i].at.NoTypes = nil
			}
		}
		return points
	}
	return Agent{
		ID: id, Version: version, Aliases: aliases,
		Doc:      "Claude Code " + version + ": JSON on stdout, a refusal also by exit code 2 and stderr",
		eventKey: "hook_event_name",
		keys:     claudeKeys,
		mcp:      mcpNames{server: "name"},
		env:      []envKey{{"CLAUDE_PROJECT_DIR", policy.FieldProjectRoot}},
		computed: computed,
		Profile:  claudeProfile,
		Files: []File{
			{Tier: policy.TierManaged, Base: System, Path: "etc/claude-code/managed-settings.json", Install: Writes},
			{Tier: policy.TierUser, Base: Home, Path: ".claude/settings.json", Env: "CLAUDE_CONFIG_DIR", EnvPath: "settings.json", Install: Writes},
			{Tier: policy.TierProject, Base: Project, Path: ".claude/settings.json", Install: Writes},
			{Tier: policy.TierLocal, Base: Project, Path: ".claude/settings.local.json", Install: Looks},
			{Tier: policy.TierExtension, Base: Home, Path: ".claude/plugins/installed_plugins.json", Env: "CLAUDE_CONFIG_DIR", EnvPath: "plugins/installed_plugins.json", Format: "claudeplugins"},
		},
		protects: []string{".claude/hooks", ".claude/plugins", ".mcp.json", "~/.claude/settings.local.json", "~/.claude/hooks", "~/.claude/plugins", "~/.claude.json", "/etc/claude-code", "/Library/Application Support/ClaudeCode"},
		settings: &Settings{
			Handler: Handler{Type: "command", Command: "command", Timeout: "timeout", Closed: "onFailure", ClosedValue: "block"},
			Unit:    time.Second, Standard: 10 * time.Minute,
			Matchers: listed("-_ ,|", "|,"),
			Switches: []Switch{
				{Path: "disableAllHooks", Off: true, Ranks: []policy.Tier{policy.TierManaged, policy.TierLocal, policy.TierProject, policy.TierUser}},
				{Path: "allowManagedHooksOnly", Off: true, SparesManaged: true, Ranks: []policy.Tier{policy.TierManaged}},
			},
			Reading:   claudeReading(old),
			StartOnly: true,
			Trust:     "Claude Code runs hooks of settings files only in a workspace that was accepted",
		},
		narrow:        narrowClaude,
		fits:          fitsClaude,
		blank:         blankClaude,
		deliver:       deliverClaude,
		refuseUnknown: exit2,
		// A notice "hook error" with the text; nothing else happens.
		noticeExit: 1,
		scripts: scripts{
			hides:   "OTEL_",
			anyExit: true,
			read:    func(a output) (policy.Result, error) { return readClaude(a, false) },
			native:  func(a output) (policy.Result, error) { return readClaude(a, old) },
			prompt:  claudePrompt, reply: readClaudeReply,
		},
	}
}

var claudeKeys = lists.Concat(
	[]key{
		{name: "agent_type", field: policy.FieldSubagentType, use: sent},
		{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage, claudeExpansion}},
		{name: "tool_response", field: policy.FieldToolResult},
		{name: "error", field: policy.FieldToolError},
		{name: "error", field: policy.FieldErrorType, at: []policy.Event{policy.StopFailure}, use: here},
		{name: "last_assistant_message", field: policy.FieldAssistantOutput, at: []policy.Event{policy.StopEvent, policy.SubagentStop, policy.StopFailure}},
		{name: "mcp_server", field: policy.FieldMCP},
	},
	same(policy.FieldSessionID, policy.FieldTranscriptPath, policy.FieldCwd, policy.FieldAgentID,
		policy.FieldAgentType, policy.FieldToolName, policy.FieldToolInput, policy.FieldToolUseID, policy.FieldMessage, policy.FieldTitle),
	sameAt([]policy.Event{policy.PreAutoCompact, policy.PostAutoCompact, "ext.Setup"}, policy.FieldTrigger),
	sameAt([]policy.Event{policy.StopEvent, policy.SubagentStop}, policy.FieldStopHookActive),
	sameAt([]policy.Event{policy.Notify}, policy.FieldNotificationType),
	sameAt([]policy.Event{policy.PreSendMessage, policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution,
		policy.PostToolExecutionFailure, policy.StopEvent, policy.SubagentStop, claudeExpansion, "ext.PostToolBatch", "ext.PermissionDenied",
		"ext.TaskCreated", "ext.TaskCompleted", "ext.TeammateIdle"}, policy.FieldPermissionMode),
	sameAt([]policy.Event{policy.SessionStart}, policy.FieldModel, policy.FieldSource),
	sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
)

const claudeSays = MayEnd | MaySystem | MaySuppress

// claudeEvent is one event of Claude Code: the point itself, what is heard of its
// hooks (docs/reference/dialects, claude §4.1), what it obeys where that differs from the
// canonical row, and what becomes of the folded answers.
type claudeEvent struct {
	point
	hears claudeTrait
	row   func(*policy.EventSpec)
	sink  func(*policy.Context, policy.Result) policy.Result
}

// claudeEvents are the events, those that the older release does not have last.
var claudeEvents = []claudeEvent{
	{point{name: "SessionStart", event: policy.SessionStart, may: MaySystem | MaySuppress | MayContext, at: At{Field: policy.FieldSource, NoTypes: claudeRemote}}, claudeShows | claudeTalks | claudeSpeaks | claudeNotes,
		watches(true), nil},
	{point{name: "SessionEnd", event: policy.SessionEnd, at: At{Field: policy.FieldReason, NoTypes: claudeModels, Standard: 1500 * time.Millisecond, Most: time.Minute}}, claudeShows | claudeSilent,
		watches(false), nil},
	{point{name: "UserPromptSubmit", event: policy.PreSendMessage, may: claudeSays | MayDeny | MayContext, at: At{Standard: 30 * time.Second}}, claudeGates | claudeSpeaks,
		func(s *policy.EventSpec) {
			obeys(claudeMayDeny, true)(s)
			s.Writes, s.Feedback = nil, false // a prompt cannot be changed
		}, withoutBlocked},
	{point{name: "PreToolUse", event: policy.PreToolExecution, may: claudeSays | MayAllow | MayAsk | MayDeny | MayContext, writes: []policy.Field{policy.FieldToolInput}, askKeepsInput: true}, claudeGates,
		func(s *policy.EventSpec) {
			s.Powers = policy.MayAllow | policy.MayAsk | policy.MayDefer | claudeMayDeny
		}, withoutDeferred},
	{point{name: "PermissionRequest", event: policy.PermissionRequest, may: claudeSays | MayAllow | MayDeny, writes: []policy.Field{policy.FieldToolInput}, allowed: true, at: At{NoTypes: []string{"agent"}}}, claudeEnds | claudeNotes,
		nil, supersede.Unchanged},
	{point{name: "PostToolUse", event: policy.PostToolExecution, may: claudeSays | MayDeny | MayContext, writes: []policy.Field{policy.FieldToolResult}, annotates: true}, claudeGates,
		obeys(claudeMayDeny, true), nil},
	// `continue: false` is not heard after a failure, nor before a subagent; status 2 refuses neither.
	{point{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure, may: MayDeny | MayContext | MaySystem | MaySuppress, annotates: true}, claudeGates &^ (claudeBlocks | claudeEnds),
		func(s *policy.EventSpec) {
			obeys(claudeMayDeny, true)(s)
			s.Writes = nil
		}, nil},
	// Context at an ending would keep the agent working.
	{point{name: "Stop", event: policy.StopEvent, may: claudeSays | MayDeny, at: At{Ungated: true}}, claudeGates,
		nil, goingOn},
	{point{name: "SubagentStop", event: policy.SubagentStop, may: claudeSays | MayDeny, shape: shapeClaudeAgent, at: At{Field: policy.FieldSubagentType, Ungated: true}}, claudeGates,
		nil, goingOn},
	{point{name: "SubagentStart", event: policy.SubagentStart, may: MayContext | MaySystem | MaySuppress, shape: shapeClaudeAgent, at: At{Field: policy.FieldSubagentType, NoTypes: claudeModels}}, claudeShows | claudeTalks | claudeNotes,
		watches(true), nil},
	{point{name: "StopFailure", event: policy.StopFailure, at: At{Field: policy.FieldErrorType, NoTypes: claudeModels, List: "_|", Separators: "|"}}, claudeSilent,
		watches(false), nil},
	{point{name: "Notification", event: policy.Notify, at: At{Field: policy.FieldNotificationType, NoTypes: claudeModels}}, claudeSilent,
		watches(false), nil},
	{point{name: "PreCompact", event: policy.PreAutoCompact, may: MayDeny, at: At{Field: policy.FieldTrigger, NoTypes: claudeModels}}, claudeDecides | claudeBlocks,
		obeys(policy.MayDeny, false), nil},
	{point{name: "PostCompact", event: policy.PostAutoCompact, at: At{Field: policy.FieldTrigger, NoTypes: claudeModels}}, claudeShows,
		watches(false), nil},
	// Of those that follow hookc has no names. Its own hooks only watch them; those of Claude
	// Code's settings may say what may holds. A matcher that looks at no field looks at nothing.
	{point{name: "Setup", event: "ext.Setup", at: At{Field: policy.FieldTrigger, NoTypes: append([]string{"mcp_tool"}, claudeRemote...)}}, claudeShows | claudeTalks | claudeNotes | claudeOld, watches(true), nil},
	{point{name: "InstructionsLoaded", event: "ext.InstructionsLoaded", at: At{Raw: "load_reason", NoTypes: claudeModels}}, claudeSilent, watches(false), nil},
	{point{name: "UserPromptExpansion", event: claudeExpansion, may: claudeSays | MayDeny | MayContext, at: At{Raw: "command_name"}}, claudeGates | claudeSpeaks, guards(policy.Guard, claudeMayDeny, true), withoutBlocked},
	{point{name: "MessageDisplay", event: "ext.MessageDisplay", at: At{NoTypes: claudeModels, Standard: 10 * time.Second, Nothing: true}}, claudeNotes, watches(false), nil},
	{point{name: "PermissionDenied", event: "ext.PermissionDenied", at: At{Field: policy.FieldToolName}}, claudeNotes, watches(false), nil},
	{point{name: "PostToolBatch", event: "ext.PostToolBatch", may: claudeSays | MayDeny | MayContext, at: At{Nothing: true}}, claudeGates, guards(policy.Guard, claudeMayDeny, true), nil},
	{point{name: "TaskCreated", event: "ext.TaskCreated", may: MayDeny, at: At{Nothing: true}}, claudeDecides | claudeBlocks | claudeNotes, guards(policy.Guard, policy.MayDeny, false), nil},
	{point{name: "TaskCompleted", event: "ext.TaskCompleted", may: MayDeny | MayEnd, at: At{Ungated: true, Nothing: true}}, claudeBlocks | claudeEnds | claudeNotes, guards(policy.Guard, claudeMayDeny, false), nil},
	{point{name: "TeammateIdle", event: "ext.TeammateIdle", may: MayDeny | MayEnd, at: At{Ungated: true, Nothing: true}}, claudeBlocks | claudeEnds | claudeNotes, guards(policy.Quality, claudeMayDeny, false), nil},
	{point{name: "ConfigChange", event: "ext.ConfigChange", may: MayDeny, at: At{Field: policy.FieldSource, NoTypes: claudeModels}}, claudeDecides | claudeBlocks, guards(policy.Guard, policy.MayDeny, false), nil},
	{point{name: "CwdChanged", event: "ext.CwdChanged", may: MaySystem, at: At{NoTypes: claudeModels, Nothing: true}}, claudeShows | claudeNotes, watches(false), nil},
	{point{name: "DirectoryAdded", event: "ext.DirectoryAdded", may: MaySystem, at: At{Field: policy.FieldSource, NoTypes: claudeModels}}, claudeNotes, watches(false), nil},
	{point{name: "FileChanged", event: "ext.FileChanged", may: MaySystem, at: At{Raw: "file_path", Base: true, NoTypes: claudeModels, List: "_|", Separators: "|"}}, claudeShows | claudeNotes, watches(false), nil},
	// The context is the path of the work tree.
	{point{name: "WorktreeCreate", event: "ext.WorktreeCreate", may: MayDeny | MayContext, at: At{NoTypes: claudeModels, Nothing: true}}, 0, guards(policy.Guard, policy.MayDeny, true), lastContext},
	{point{name: "WorktreeRemove", event: "ext.WorktreeRemove", may: MayDeny, at: At{NoTypes: claudeModels, Nothing: true}}, claudeSilent, guards(policy.Guard, policy.MayDeny, false), nil},
	{point{name: "Elicitation", event: "ext.Elicitation", may: MayDeny, at: At{Raw: "mcp_server_name", NoTypes: claudeModels}}, claudeDecides | claudeBlocks | claudeNotes | claudeNew, guards(policy.Guard, policy.MayDeny, false), nil},
	{point{name: "ElicitationResult", event: "ext.ElicitationResult", may: MayDeny, at: At{Raw: "mcp_server_name", NoTypes: claudeModels}}, claudeDecides | claudeBlocks | claudeNotes | claudeNew, guards(policy.Guard, policy.MayDeny, false), nil},
	{point{name: "PreModelSwitch", event: "ext.PreModelSwitch", may: MayAllow | MayAsk | MayDeny | MaySystem, at: At{Raw: "to_model", NoTypes: claudeModels, Standard: 30 * time.Second, LateRefuses: true}}, claudeDecides | claudeBlocks | claudeNotes, guards(policy.Guard, policy.MayAllow|policy.MayAsk|policy.MayDeny, false), nil},
	{point{name: "PostModelSwitch", event: "ext.PostModelSwitch", may: MayContext | MaySystem, at: At{Raw: "to_model", NoTypes: claudeModels, Standard: 30 * time.Second}}, claudeShows | claudeTalks | claudeSpeaks | claudeNotes, watches(true), nil},
}

// shapeClaudeAgent: at a subagent's own events agent_type is its type.
var shapeClaudeAgent = &shape{func(sent map[string]any) {
	if v, ok := sent["agent_type"]; ok {
		sent["subagent_type"] = v
	}
}, Form{Shape: ShapeAgent}}

// narrowClaude: where permissions are bypassed a question is not put to
// anyone.
func narrowClaude(in *policy.Context, may Power) Power {
	if in.Text(policy.FieldPermissionMode) == "bypassPermissions" {
		return may &^ MayAsk
	}
	return may
}

// fitsClaude: a result is replaced only by one of the built-in tool's own
// shape, else the original is shown in silence; MCP results are not checked.
func fitsClaude(c *Call, f policy.Field, v any) bool {
	if f != policy.FieldToolResult {
		return f.Spec().Type.Holds(v)
	}
	old, ok := c.Context.Get(f)
	return ok && claudeTakes(c.Context.Text(policy.FieldToolName), old, v)
}

// claudeTakes reports whether Claude Code takes a new result of a tool. What a
// tool's results may be is known of the tools in claudeResults; of others it is
// what has the shape of the old one.
func claudeTakes(tool string, old, v any) bool {
	kind, known := claudeResults()[tool]
	switch {
	case strings.HasPrefix(tool, "mcp__"):
		return true
	case known && form.Is(kind, old):
		return form.Is(kind, v)
	}
	return form.Same(old, v)
}

const aText, aNumber, aFlag = policy.StringType, policy.NumberType, policy.BoolType

// claudeResults are the results of Claude Code's own tools (sdk-tools.d.ts of
// 2.1.330).
var claudeResults = lazy.Value(func() map[string]any {
	patch := form.List{form.Keyed{"oldStart": aNumber, "oldLines": aNumber, "newStart": aNumber, "newLines": aNumber, "lines": form.List{aText}}}
	return map[string]any{
		"Bash": form.Keyed{"stdout": aText, "stderr": aText, "interrupted": aFlag, "rawOutputPath?": aText, "isImage?": aFlag, "backgroundTaskId?": aText,
			"backgroundedByUser?": aFlag, "timedOutAfterMs?": aNumber, "dangerouslyDisableSandbox?": aFlag, "returnCodeInterpretation?": aText,
			"noOutputExpected?": aFlag, "structuredContent?": form.List{policy.AnyType}, "persistedOutputPath?": aText, "persistedOutputSize?": aNumber},
		"Read": form.OneOf{
			form.Keyed{"type": "text", "file": form.Keyed{"filePath": aText, "content": aText, "numLines": aNumber, "startLine": aNumber, "totalLines": aNumber}},
			form.Keyed{"type": "notebook", "file": form.Keyed{"filePath": aText, "cells": form.List{policy.AnyType}}},
		},
		"Write": form.Keyed{"type": form.OneOf{"create", "update"}, "filePath": aText, "content": aText, "structuredPatch": patch,
			"originalFile": form.OneOf{aText, nil}, "userModified?": aFlag, "staged?": aFlag},
		"Edit": form.Keyed{"filePath": aText, "oldString": aText, "newString": aText, "originalFile": form.OneOf{aText, nil},
			"structuredPatch": patch, "userModified": aFlag, "replaceAll": aFlag, "staged?": aFlag},
		"Glob": form.Keyed{"durationMs": aNumber, "numFiles": aNumber, "filenames": form.List{aText}, "truncated": aFlag, "totalMatches?": aNumber,
			"countIsComplete?": aFlag, "timedOut?": aFlag},
		"Grep": form.Keyed{"mode?": form.OneOf{"content", "files_with_matches", "count"}, "numFiles": aNumber, "filenames": form.List{aText},
			"content?": aText, "numLines?": aNumber, "numMatches?": aNumber, "totalFiles?": aNumber, "totalLines?": aNumber, "appliedLimit?": aNumber,
			"appliedOffset?": aNumber, "timedOut?": aFlag},
		"WebFetch": form.Keyed{"bytes": aNumber, "code": aNumber, "codeText": aText, "result": aText, "durationMs": aNumber, "url": aText},
		"WebSearch": form.Keyed{"query": aText, "durationSeconds": aNumber, "searchCount?": aNumber, "results": form.List{form.OneOf{aText,
			form.Keyed{"tool_use_id": aText, "content": form.List{form.Keyed{"title": aText, "url": aText, "snippet?": aText}}}}}},
	}
})

// blankClaude is a text as the whole result of a tool.
func blankClaude(c *Call, text string) (any, bool) {
	old, _ := c.Context.Get(policy.FieldToolResult)
	input, _ := c.Context.Get(policy.FieldToolInput)
	asked := func(key string) string {
		s, _ := input.(map[string]any)[key].(string)
		return s
	}
	var out map[string]any
	switch tool := c.Context.Text(policy.FieldToolName); tool {
	case "Bash":
		out = map[string]any{"stdout": text, "stderr": "", "interrupted": false}
	case "Read":
		out = map[string]any{"type": "text", "file": map[string]any{"filePath": asked("file_path"), "content": text, "numLines": 1, "startLine": 1, "totalLines": 1}}
	case "Glob":
		out = map[string]any{"durationMs": 0, "numFiles": 1, "filenames": []any{text}, "truncated": false}
	case "Grep":
		out = map[string]any{"mode": "content", "numFiles": 0, "filenames": []any{}, "content": text, "numLines": 1}
	case "WebFetch":
		out = map[string]any{"bytes": 0, "code": 200, "codeText": "OK", "result": text, "durationMs": 0, "url": asked("url")}
	case "WebSearch":
		out = map[string]any{"query": asked("query"), "results": []any{text}, "durationSeconds": 0}
	case "Agent", "Task":
		before, _ := old.(map[string]any)
		if before["status"] != "completed" {
			return nil, false
		}
		out = maps.Clone(before)
		out["content"] = []any{map[string]any{"type": "text", "text": text}}
	}
	return out, out != nil
}

func deliverClaude(a *answer) Wire {
	out, own := reply{}, reply{}
	out.text("systemMessage", a.systemText())
	out.flag("suppressOutput", a.suppress)
	own.text("additionalContext", a.contextText())
	if a.act == end {
		out["continue"], out["stopReason"] = false, a.reason
	}
	class := a.point.event.Spec().Class
	switch a.point.event {
	case "ext.WorktreeCreate":
		if a.act != deny {
			return Wire{Stdout: []byte(a.contextText())}
		}
	case policy.PreToolExecution, "ext.PreModelSwitch":
		claudeCall(a, own)
	case policy.PermissionRequest:
		claudePermission(a, own)
	default:
		if a.act == deny || a.act == end && class == policy.Guard && a.point.may.Has(MayDeny) {
			out["decision"], out["reason"] = "block", a.reason
		}
		if v, ok := a.patch[policy.FieldToolResult]; ok {
			own["updatedToolOutput"] = v
		}
	}
	if a.act == deny && a.point.event == policy.PreSendMessage {
		delete(own, "additionalContext") // a blocked prompt gets none
	}
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	if a.act == deny && class != policy.Transform && a.point.event != policy.PermissionRequest {
		return out.wire(2, a.reason)
	}
	return out.wire(0, "")
}

// claudeCall writes the decision on a call. When the turn is to end the call
// is refused as well.
func claudeCall(a *answer, own reply) {
	word := a.act.String()
	switch a.act {
	case end:
		word = "deny"
	case allow, ask, deny:
	default:
		word = ""
	}
	if word != "" {
		own["permissionDecision"] = word
		own.text("permissionDecisionReason", a.reason)
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		own["updatedInput"] = input
	}
}

// claudePermission writes the answer to a permission prompt.
func claudePermission(a *answer, own reply) {
	decision := reply{}
	switch a.act {
	case allow:
		decision["behavior"] = "allow"
		if input, ok := a.patch[policy.FieldToolInput]; ok {
			decision["updatedInput"] = input
		}
	case deny, end:
		decision["behavior"], decision["message"] = "deny", a.reason
		decision.flag("interrupt", a.act == end)
	}
	own.under("decision", decision)
}

// claudeProfile is how Claude Code runs the hooks of its settings: all at once
// on what the event began with, none of them stopping another, the most
// restrictive answer holding (docs/reference/dialects, claude §4.4, §4.6). Of answers
// that come in any order there the later in the files holds here.
var claudeProfile = &Profile{
	Tools: claudeTools, Open: []string{"mcp__*"},
	Rules: func(bool) policy.Profile {
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for _, e := range claudeEvents {
			rules.Strategies[e.event] = &policy.StrategySpec{
				Strategy: "claude", Snapshot: true, Halt: policy.HaltNever,
				Fold:  policy.FoldMax,
				Doc:   "all run on one snapshot, the most restrictive wins",
				Rules: policy.Rules{Row: e.row, Supersede: supersede.LaterChange, Conclude: e.sink},
			}
		}
		return rules
	},
}

// claudeTools are the tools Claude Code has on its own.
var claudeTools = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList", "Edit", "EndConversation", "EnterPlanMode",
	"EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell", "LS", "LSP", "ListAgents", "ListMcpResourcesTool", "Monitor",
	"MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read", "ReadMcpResourceTool", "ReportFindings", "ScheduleWakeup", "SendMessage",
	"Skill", "SlashCommand", "StructuredOutput",
	"Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoWrite", "ToolSearch",
	"WebFetch", "WebSearch", "Workflow", "Write",
}

// everyone is a bound on processes that no configuration meets: the agent has
// none.
const everyone = 1 << 10

// guards makes an event of Claude Code's own one that can be refused.
//
//go:noinline
func guards(class policy.Class, powers policy.Powers, context bool) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		s.Class, s.Powers, s.Context = class, powers, context
	}
}

// obeys sets what an event obeys: the verdicts and controls, and whether it
// takes context.
//
//go:noinline
func obeys(powers policy.Powers, context bool) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		s.Powers, s.Context, s.Inject, s.Retry = powers, context, false, s.Class == policy.Quality
	}
}

// watches makes an event one that only observes.
//
//go:noinline
func watches(context bool) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		s.Class, s.Powers, s.Writes, s.Context, s.Inject, s.Feedback, s.Retry, s.Refused = policy.Observe, 0, nil, context, false, false, false, nil
	}
}

const claudeMayDeny = policy.MayDeny | policy.MayHalt

// withoutBlocked: a blocked prompt gets no context.
func withoutBlocked(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Deny {
		r.Context = nil
	}
	return r
}

// withoutDeferred: a deferred call keeps its input and gets no context.
func withoutDeferred(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict == policy.Defer && r.Control == policy.Go {
		r.Context, r.Patch = nil, policy.Patch{}
	}
	return r
}

// goingOn: context at an ending keeps the agent working, and a block beside it
// is still one.
func goingOn(_ *policy.Context, r policy.Result) policy.Result {
	if r.Control != policy.Stop || len(r.Feedback) == 0 {
		return r
	}
	r.Context = lists.Concat(r.Context, r.Feedback)
	if r.Verdict == policy.Deny {
		r.Control, r.ControlBy, r.Feedback = policy.Go, policy.By{}, nil
	}
	return r
}

// lastContext: of several texts the last counts.
func lastContext(_ *policy.Context, r policy.Result) policy.Result {
	if n := len(r.Context); n > 1 {
		r.Context = r.Context[n-1:]
	}
	return r
}

const claudeExpansion policy.Event = "ext.UserPromptExpansion"

// jsonLines reports whether text is two or more JSON values, one a line, none
// of which is an answer: then it is a log and not a broken answer.
func jsonLines(text string) bool {
	lines := strings.Split(text, "\n")
	return len(lines) > 1 && !slices.ContainsFunc(lines, func(line string) bool {
		v, err := looseJSON(line)
		if err != nil {
			return true
		}
		m, _ := v.(map[string]any)
		for _, k := range []string{"continue", "decision", "reason", "hookSpecificOutput", "systemMessage", "stopReason", "suppressOutput", "terminalSequence"} {
			if m[k] != nil {
				return true
			}
		}
		return false
	})
}

var claudeVerdicts = words{"allow": policy.Allow, "ask": policy.Ask, "defer": policy.Defer, "deny": policy.Deny}

// claudeToolUse reads what PreToolUse alone says. A deferred call keeps its
// input.
func claudeToolUse(d *draft, own, top fields) {
	for _, o := range []fields{top, own} {
		word := o.text("permissionDecision")
		if v, ok := claudeVerdicts[word]; ok {
			d.claudeVerdict(v, either("permissionDecisionReason", o, own).text("permissionDecisionReason"))
		} else if word != "" {
			d.fail("permissionDecision must be allow, deny, ask or defer, not %q", word)
		}
	}
	if input := either("updatedInput", own, top).sub("updatedInput"); input.m != nil && d.r.Verdict != policy.Defer {
		d.replace(policy.FieldToolInput, input.m)
	}
	if d.r.Verdict == policy.Defer {
		d.r.Context = nil
	}
}

// claudeVerdict is verdict of the event's own decision: of two that are equal
// its reason counts, not that of the older top-level one.
func (d *draft) claudeVerdict(v policy.Verdict, reason string) {
	if v == d.r.Verdict {
		d.r.Reasons = nil
	}
	d.verdict(v, reason)
}

// readClaudePermission reads the answer to a permission prompt.
func readClaudePermission(d *draft, own fields) {
	decision := own.sub("decision")
	switch word := decision.text("behavior"); word {
	case "":
	case "allow":
		d.verdict(policy.Allow, "")
		if input := decision.sub("updatedInput"); input.m != nil {
			d.replace(policy.FieldToolInput, input.m)
		}
	case "deny":
		d.verdict(policy.Deny, decision.text("message"))
		if on, _ := decision.flag("interrupt"); on {
			d.halt(decision.text("message"))
		}
	default:
		d.fail("decision.behavior must be allow or deny, not %q", word)
	}
}

// claudeGoOn gives context at the end of a turn its meaning there: the agent
// goes on, with the context as feedback.
func claudeGoOn(d *draft) {
	if len(d.r.Context) == 0 || d.r.Verdict == policy.Deny || d.r.Control == policy.Halt {
		return
	}
	d.r.Control, d.r.ControlBy = policy.Stop, d.by
	d.r.Feedback, d.r.Context = d.r.Context, nil
}

// claudeTrait is what Claude Code hears from a hook at one of its events.
type claudeTrait uint16

const (
	// claudeDecides: `decision: block` at the top level blocks.
	claudeDecides claudeTrait = 1 << iota
	// claudeBlocks: exit status 2 blocks.
	claudeBlocks
	// claudeShows: exit status 2 shows standard error to the user.
	claudeShows
	// claudeEnds: `continue: false` ends the turn, or the teammate.
	claudeEnds
	// claudeTalks: additionalContext is heard; claudeSpeaks: and plain text is.
	claudeTalks
	claudeSpeaks
	// claudeMute: nothing that is printed is heard.
	claudeSilent
	// claudeNotes: systemMessage is shown.
	claudeNotes
	// claudeOld are traits of 2.1.240 alone, claudeNew those since.
	claudeOld
	claudeNew

	// claudeGates are the traits of most events that can be refused.
	claudeGates = claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes
)

func (t claudeTrait) has(part claudeTrait) bool { return t&part != 0 }

// claudeTraitsAt are the traits at one version: Setup is deaf since, and
// elicitations took no `decision` before.
func claudeTraitsAt(native string, old bool) claudeTrait {
	var t claudeTrait
	if i := slices.IndexFunc(claudeEvents, func(e claudeEvent) bool { return e.name == native }); i >= 0 {
		t = claudeEvents[i].hears
	}
	switch {
	case t.has(claudeOld) && !old:
		return claudeSilent
	case t.has(claudeNew) && old:
		return t &^ claudeDecides
	}
	return t
}

// claudeTraits are the traits for a hook. One of a policy of hookc's is heard wherever
// it may decide.
func (a *output) claudeTraits(old bool) claudeTrait {
	switch {
	case a.native != "":
		return claudeTraitsAt(a.native, old)
	case a.event == policy.PermissionRequest:
		return claudeEnds | claudeTalks | claudeNotes
	case a.event == policy.PreSendMessage || a.event == policy.SessionStart:
		return claudeGates | claudeSpeaks
	}
	return claudeGates
}

// readClaude classifies an answer as Claude Code does (reference §4.3). An answer that
// does not pass its schema is an error as a whole. Of a script of its own settings that
// was killed after it answered only what forbids counts, unless faithful.
func readClaude(a output, old bool) (policy.Result, error) {
	if strings.HasPrefix(a.native, "Worktree") {
		return claudeWorktree(a, old)
	}
	traits := a.claudeTraits(old)
	var object *draft
	var text string
	var bad error
	if !traits.has(claudeSilent) {
		object, text, bad = claudeParse(a, old)
	}
	forbids := object != nil && (object.r.Verdict == policy.Deny || object.r.Control == policy.Halt)
	switch {
	case a.Exit == 2, a.Exit != 0 && a.strict && forbids && traits.has(claudeBlocks):
		return claudeRefuse(a, traits, object, text, old)
	case a.Exit != 0 && a.strict && !forbids:
		return policy.Result{}, a.failure()
	case bad != nil:
		return policy.Result{}, bad
	case object != nil && (a.Signal == "" || a.faithful || forbids):
		return object.done()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	}
	d := a.draft()
	if traits.has(claudeSpeaks) {
		d.context(text)
	}
	return d.done()
}

// claudeParse is what was printed: an object that passed the schema, text, or
// an error.
func claudeParse(a output, old bool) (object *draft, text string, bad error) {
	text = js.Trim(a.Stdout)
	if !strings.HasPrefix(text, "{") {
		return nil, text, nil
	}
	v, err := looseJSON(text)
	m, _ := v.(map[string]any)
	switch {
	case err != nil && (jsonLines(text) || a.native != "" && old || !strings.HasSuffix(text, "}") && (a.native != "" || a.claudeTraits(old).has(claudeSpeaks))):
		return nil, text, nil
	case err != nil:
		return nil, text, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	d := claudeAnswer(a, m, old)
	if _, err := d.done(); err != nil && a.native != "" {
		return nil, text, err
	}
	return d, text, nil
}

// claudeAnswer reads an object by the schema. Of a hook of hookc's own policies, keys
// of hookSpecificOutput are also taken at the top level, where Claude Code would pass
// them over.
func claudeAnswer(a output, m map[string]any, old bool) *draft {
	d, traits := a.draft(), a.claudeTraits(old)
	top := d.object(m)
	own := top.sub("hookSpecificOutput")
	event := lists.First(a.native, a.agent.EventName(a.event))
	if name := own.text("hookEventName"); own.m != nil && name != event && (a.native != "" || a.agent.knows(a.event)) {
		d.fail("hookSpecificOutput.hookEventName must be %q, not %q", event, name)
	}
	beside := fields{nil, d}
	if a.native == "" {
		beside = top
	}
	on, written := top.flag("continue")
	stopReason, system := top.text("stopReason"), top.text("systemMessage")
	context := either("additionalContext", own, beside).text("additionalContext")
	suppress, _ := top.flag("suppressOutput")
	if a.native == "" && a.event == policy.PermissionRequest {
		delete(top.m, "decision")
	}
	word, reason := top.text("decision"), top.text("reason")
	if word != "" && word != "approve" && word != "block" {
		d.fail("decision must be approve or block, not %q", word)
	}
	d.r.Suppress = suppress
	if written && !on {
		if traits.has(claudeEnds) {
			d.halt(stopReason)
		} else {
			d.warn("continue: false has no effect at %s", a.native)
		}
	}
	if traits.has(claudeNotes) {
		d.system(system)
	}
	if traits.has(claudeTalks) {
		d.context(context)
	}
	switch {
	case word == "block" && traits.has(claudeDecides):
		d.verdict(policy.Deny, reason)
	case word == "approve" && (a.native == "" || a.event == policy.PreToolExecution):
		d.verdict(policy.Allow, reason)
	case word == "block" && a.native != "ConfigChange":
		d.warn("decision: block has no effect at %s", a.native)
	case word == "" && a.native == "" && a.event != policy.PermissionRequest:
		d.reason(reason)
	}
	if a.native != "" || a.agent.knows(a.event) {
		claudeSpecific(d, event, own, beside)
	}
	if a.native != "" {
		claudeUnheard(d, top, own)
	}
	return d
}

// claudeSpecific reads what one event alone has in hookSpecificOutput.
func claudeSpecific(d *draft, event string, own, beside fields) {
	switch event {
	case "PreToolUse":
		claudeToolUse(d, own, beside)
	case "PermissionRequest":
		readClaudePermission(d, own)
	case "PostToolUse":
		claudeResult(d, own, beside)
	case "UserPromptSubmit", "UserPromptExpansion":
		if d.r.Verdict == policy.Deny {
			d.r.Context = nil
		}
	case "Stop", "SubagentStop":
		claudeGoOn(d)
	case "PreModelSwitch":
		word := own.text("permissionDecision")
		v, known := claudeVerdicts[word]
		switch {
		case word == "":
		case !known || v == policy.Defer:
			d.fail("permissionDecision must be allow, deny or ask, not %q", word)
		default:
			d.claudeVerdict(v, own.text("permissionDecisionReason"))
		}
	case "Elicitation", "ElicitationResult":
		switch word := own.text("action"); word {
		case "":
		case "accept":
			d.warn("action accept does not reach Claude Code through hookc: the user is asked")
		case "decline", "cancel":
			d.verdict(policy.Deny, "")
		default:
			d.fail("action must be accept, decline or cancel, not %q", word)
		}
	}
}

// claudeResult reads a new result: of an MCP tool any, of a built-in one that
// of its own shape; another is passed over. Where it goes to the agent through hookc
// its shape is looked at then.
func claudeResult(d *draft, own, beside fields) {
	old, known := d.in.Get(policy.FieldToolResult)
	mcp := strings.HasPrefix(d.in.Text(policy.FieldToolName), "mcp__")
	for _, k := range []string{"updatedMCPToolOutput", "updatedToolOutput"} {
		own := either(k, own, beside)
		switch {
		case !own.has(k):
		case d.native == "" || mcp || k == "updatedToolOutput" && (!known || claudeTakes(d.in.Text(policy.FieldToolName), old, own.m[k])):
			d.replace(policy.FieldToolResult, own.m[k])
		case k == "updatedMCPToolOutput":
			d.warn("%s is taken of MCP tools alone", k)
		default:
			d.warn("%s has not the shape of the tool's own result; Claude Code passes over it", k)
		}
	}
}

// claudeUnheard reports what an answer says to Claude Code itself, and a
// Decision has no place for.
func claudeUnheard(d *draft, top, own fields) {
	if top.has("terminalSequence") {
		d.warn("terminalSequence does not reach Claude Code through hookc")
	}
	for _, k := range []string{"initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills", "displayContent", "classifierContext",
		"suppressOriginalPrompt", "retry"} {
		if own.has(k) {
			d.warn("%s does not reach Claude Code through hookc", k)
		}
	}
	if own.sub("decision").has("updatedPermissions") {
		d.warn("updatedPermissions does not reach Claude Code through hookc")
	}
}

// claudeRefuse reads an answer with exit status 2, or a failed one that onFailure makes
// one. The reason is a blocking answer's, else standard error; what loosens is dropped.
func claudeRefuse(a output, traits claudeTrait, object *draft, text string, old bool) (policy.Result, error) {
	gate := a.event == policy.StopEvent || a.event == policy.SubagentStop || a.native == "TaskCompleted"
	if gate && !old && text == "" && strings.Contains(strings.ToLower(a.Stderr), "no such file or directory") {
		return policy.Result{}, a.failure() // a shell reports so that the script is missing
	}
	d := object
	if d == nil || len(d.errs) > 0 || strings.HasPrefix(a.native, "Elicitation") {
		d = a.draft()
	}
	switch {
	case a.native == "ConfigChange" && a.in.Text(policy.FieldSource) == "policy_settings":
		d = a.draft()
		d.warn("a change of managed settings is applied whatever a hook says")
	case traits.has(claudeBlocks):
		claudeBlocked(d)
	case traits.has(claudeShows):
		d.system(a.complaint(""))
	case a.native == "PostToolUseFailure":
		d.context(a.complaint("")) // the model reads it
	default:
		if a.faithful || d.r.Verdict != policy.Deny && d.r.Control != policy.Halt {
			d = a.draft()
		}
		d.warn("exit status 2 says nothing at %s; answer with a decision", lists.First(a.native, string(a.event)))
	}
	return d.done()
}

// claudeBlocked turns a draft into a block.
func claudeBlocked(d *draft) {
	if d.r.Verdict != policy.Deny || len(d.r.Reasons) == 0 {
		d.r.Verdict, d.r.VerdictBy, d.r.Reasons = policy.Deny, d.by, nil
		silent := ""
		if d.native != "" {
			silent = fmt.Sprintf("blocked by %s (%s without a message)", d.by.Name, d.failure().Error())
		}
		d.reason(d.complaint(silent))
	}
	d.r.Feedback = nil
	if d.native == "" || d.event != policy.PostToolExecution { // a new result loosens nothing
		d.r.Patch = policy.Patch{}
	}
	if d.r.Control != policy.Halt {
		d.r.Control, d.r.ControlBy = policy.Go, policy.By{}
	}
	if d.event == policy.PreSendMessage || d.native == "UserPromptExpansion" {
		d.r.Context = nil
	}
}

var ansi = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)
})

// claudeWorktree reads the hooks that make and remove work trees: any status
// but 0 fails, and the last line that says something is the path.
func claudeWorktree(a output, old bool) (policy.Result, error) {
	d := a.draft()
	create := a.native == "WorktreeCreate"
	switch {
	case a.Exit == 0 && !create:
		return policy.Result{}, nil
	case a.Exit != 0 && !create && old:
		return policy.Result{}, a.failure()
	case a.Exit != 0 || a.Signal != "":
		d.r.Verdict, d.r.VerdictBy = policy.Deny, a.by
		d.reason(a.complaint(a.failure().Error()))
		return d.done()
	}
	path := ""
	for line := range strings.Lines(ansi().ReplaceAllString(a.Stdout, "")) {
		if line = strings.TrimSpace(line); line != "" {
			path = line
		}
	}
	if path == "" {
		d.r.Verdict, d.r.VerdictBy = policy.Deny, a.by
		d.reason(a.by.Name + " printed no path")
		return d.done()
	}
	d.context(path)
	return d.done()
}

// claudeInstruction ends the prompt of a hook in Claude Code's settings: its
// model answers ok or not.
const claudeInstruction = `

Answer with exactly one JSON object and no other text: {"ok": true} if nothing speaks against it, else {"ok": false, "reason": "why"}.
At the end of a turn "impossible": true beside it says that what is missing cannot be done.`

// claudePrompt is the prompt of such a hook with the event, as a script would
// read it, in the place of $ARGUMENTS or behind it; \$ is a dollar sign.
func claudePrompt(h *policy.Hook, event []byte) string {
	prompt := h.Body.Prompt.Value
	if !strings.Contains(strings.ReplaceAll(prompt, `\$`, ""), "$ARGUMENTS") {
		prompt += "\n\n$ARGUMENTS"
	}
	return strings.NewReplacer(`\$`, "$", "$ARGUMENTS", string(event)).Replace(prompt) + claudeInstruction
}

// claudeEndsTurn are the events at which a model that says no ends the turn
// too; claudeAnyway those of them at which continueOnBlock keeps it going.
var (
	claudeEndsTurn = []string{"PreToolUse", "PostToolUse", "TeammateIdle", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"}
	claudeAnyway   = claudeEndsTurn[:3]
)

// readClaudeReply reads {ok, reason, impossible} from the first { to the last }
// of a reply (reference §4.3). A reply without one is a failure.
func readClaudeReply(h *policy.Hook, reply string) (policy.Result, error) {
	first, last := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	if first < 0 || last < first {
		return policy.Result{}, policy.Failf(policy.ErrParse, "the model's reply holds no JSON object")
	}
	v, err := looseJSON(reply[first : last+1])
	m, _ := v.(map[string]any)
	ok, given := m["ok"].(bool)
	if err != nil || !given {
		return policy.Result{}, policy.Failf(policy.ErrParse, "the model's reply does not say whether it is ok")
	}
	if ok || h.Event == policy.PermissionRequest || h.Body.Agent.Event == "PermissionDenied" {
		return policy.Result{}, nil
	}
	if impossible, _ := m["impossible"].(bool); impossible && (h.Event == policy.StopEvent || h.Event == policy.SubagentStop) {
		return policy.Result{}, nil
	}
	by := policy.By{Name: h.Name, At: h.Span}
	reason, _ := m["reason"].(string)
	r := policy.Result{Verdict: policy.Deny, VerdictBy: by}
	if reason != "" {
		r.Reasons = []policy.Reason{{Text: reason, At: h.Span}}
	}
	if lists.Has(claudeEndsTurn, h.Body.Agent.Event) && !(h.Body.Agent.ContinueTurn && lists.Has(claudeAnyway, h.Body.Agent.Event)) {
		r.Control, r.ControlBy = policy.Halt, by
		if reason != "" {
			r.StopReasons = []string{reason}
		}
	}
	return r, nil
}

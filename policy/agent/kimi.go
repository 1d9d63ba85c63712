package agent

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// kimi is that of kimi-cli's own hooks: exit status 2 refuses a call, a prompt
// or the end of a turn, the latter with a reason; nothing else is heard.
var kimiAgent, _ = Agent{
	ID: "kimi", Version: "1", Aliases: []string{"kimi-cli", "kimi-code"},
	Doc:      "kimi-cli: exit code 2 and stderr",
	eventKey: "hook_event_name",
	keys: lists.Concat(
		[]key{
			{name: "tool_call_id", field: policy.FieldToolUseID},
			{name: "tool_output", field: policy.FieldToolResult},
			{name: "error", field: policy.FieldToolError},
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
			{name: "agent_name", field: policy.FieldSubagentName, at: []policy.Event{policy.SubagentStart, policy.SubagentStop}, use: here},
			{name: "prompt", field: policy.FieldTaskDescription, at: []policy.Event{policy.SubagentStart}, use: here},
			{name: "response", field: policy.FieldAssistantOutput, at: []policy.Event{policy.SubagentStop}, use: here},
			{name: "token_count", field: policy.FieldPreTokens, at: []policy.Event{policy.PreAutoCompact}},
			{name: "body", field: policy.FieldMessage, at: []policy.Event{policy.Notify}},
			{name: "severity", field: policy.FieldLevel, at: []policy.Event{policy.Notify}},
		},
		same(policy.FieldSessionID, policy.FieldCwd, policy.FieldToolName, policy.FieldToolInput, policy.FieldTitle),
		sameAt([]policy.Event{policy.StopEvent}, policy.FieldStopHookActive),
		sameAt([]policy.Event{policy.StopFailure}, policy.FieldErrorType),
		sameAt([]policy.Event{policy.PreAutoCompact, policy.PostAutoCompact}, policy.FieldTrigger),
		sameAt([]policy.Event{policy.Notify}, policy.FieldNotificationType),
		sameAt([]policy.Event{policy.SessionStart}, policy.FieldSource),
		sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
	),
	env:     []envKey{{"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_SESSION_ID", policy.FieldSessionID}}, // nothing says the project
	points:  kimiPoints,
	Profile: kimiProfile,
	Files: []File{
		{Tier: policy.TierUser, Base: Home, Path: ".kimi/config.toml", Install: Writes, Layout: FlatTables},
		{Tier: policy.TierUser, Base: Home, Path: ".kimi-code/config.toml"},
	},
	protects: []string{".kimi", "~/.kimi"},
	settings: &Settings{
		Handler: Handler{Command: "command", Timeout: "timeout"},
		Unit:    time.Second, Most: 10 * time.Minute, Standard: 30 * time.Second,
		Matchers: searched,
		Reading: Reading{
			Doc: "config.toml of kimi-cli", Called: "kimi-cli",
			Matcher: MatcherReading{
				Flavour: pattern.Python, Absent: AbsentIsEmpty,
				NotText:    "a matcher is text; this is %s: kimi-cli does not take the file",
				NotPattern: "%q is no regular expression (%v): the hook never runs",
			},
			Once: OnceEach,
		},
	},
	deliver: func(a *answer) Wire {
		if a.act == deny {
			return exit2(a.reason)
		}
		return Wire{}
	},
	refuseUnknown: exit2,
	noticeExit:    1,
	scripts: scripts{
		shape: shapeKimi,
		env:   []envKey{{"KIMI_WORK_DIR", policy.FieldCwd}, {"KIMI_PROJECT_DIR", policy.FieldProjectRoot}, {"KIMI_SESSION_ID", policy.FieldSessionID}},
		read:  readKimi,
	},
}, register(kimiAgent)

var kimiPoints = []point{
	{name: "PreToolUse", event: policy.PreToolExecution, may: MayDeny},
	{name: "PostToolUse", event: policy.PostToolExecution, at: At{Async: true}},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure, at: At{Async: true}},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: MayDeny, at: At{Field: policy.FieldUserInput}},
	{name: "Stop", event: policy.StopEvent, may: MayDeny},
	{name: "StopFailure", event: policy.StopFailure, at: At{Field: policy.FieldErrorType}},
	{name: "SessionStart", event: policy.SessionStart, at: At{Field: policy.FieldSource}},
	{name: "SessionEnd", event: policy.SessionEnd, at: At{Field: policy.FieldReason}},
	{name: "SubagentStart", event: policy.SubagentStart, at: At{Field: policy.FieldSubagentName}},
	{name: "SubagentStop", event: policy.SubagentStop, at: At{Field: policy.FieldSubagentName}},
	{name: "PreCompact", event: policy.PreAutoCompact, at: At{Field: policy.FieldTrigger}},
	{name: "PostCompact", event: policy.PostAutoCompact, at: At{Field: policy.FieldTrigger}},
	{name: "Notification", event: policy.Notify, at: At{Field: policy.FieldNotificationType}},
}

// kimiProfile is how kimi-cli runs its hooks: all at once, the first block in
// the file's order counting; at three events a block is heard at all
// (docs/reference/dialects, kimi §3).
var kimiProfile = &Profile{
	Tools: []string{"Agent", "AskUserQuestion", "CreateSubagent", "EnterPlanMode", "ExitPlanMode", "FetchURL", "Glob", "Grep", "ReadFile", "ReadMediaFile",
		"SearchWeb", "SendDMail", "SetTodoList", "Shell", "StrReplaceFile", "Task", "TaskList", "TaskOutput", "TaskStop", "Think", "WriteFile"},
	// MCP tools go by the names their servers give them.
	Open: []string{"*"},
	Rules: func(faithful bool) policy.Profile {
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for _, p := range kimiPoints {
			s := &policy.StrategySpec{Strategy: "kimi", Snapshot: true, Halt: policy.HaltNever, Fold: policy.FoldMax,
				Doc:   "all run on one snapshot, the first block counts",
				Rules: policy.Rules{Row: watches(false), Supersede: supersede.ReasonsOfVerdict, Conclude: unlessVoid(firstRefusal)}}
			switch {
			case p.event == policy.StopEvent:
				s.Rules.Row, s.Rules.Conclude = kimiObeys, unlessVoid(kimiStop(faithful))
			case p.may.Has(MayDeny):
				s.Rules.Row = kimiObeys
			}
			rules.Strategies[p.event] = s
		}
		return rules
	},
}

// kimiObeys: a block and nothing else.
func kimiObeys(s *policy.EventSpec) {
	obeys(policy.MayDeny, false)(s)
	s.Writes, s.Feedback = nil, false
}

// kimiStop: the turn goes on once, and only for a reason. What blocks without
// one is heard all the same unless faithful.
func kimiStop(faithful bool) func(*policy.Context, policy.Result) policy.Result {
	return func(before *policy.Context, r policy.Result) policy.Result {
		if r.Verdict != policy.Deny {
			return r
		}
		active, _ := before.Get(policy.FieldStopHookActive)
		by := r.VerdictBy
		r = firstRefusal(before, r)
		switch {
		case active == true:
			r.Verdict, r.VerdictBy, r.Reasons = policy.None, policy.By{}, nil
			r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], warning(codeSafeSide, by, "kimi-cli keeps a turn going once; it ends now"))
		case len(r.Reasons) == 0 && faithful:
			r.Verdict, r.VerdictBy = policy.None, policy.By{}
		case len(r.Reasons) == 0:
			r.Reasons = []policy.Reason{{Text: fmt.Sprintf("blocked by %s", by.Name), Hook: by.Name, At: by.At}}
			r.Warnings = append(r.Warnings[:len(r.Warnings):len(r.Warnings)], warning(codeSafeSide, by, "kimi-cli itself lets a turn end when a block has no reason"))
		}
		return r
	}
}

// kimiLimits are how many characters of a text a hook gets.
var kimiLimits = map[string]int{"tool_output": 2000, "response": 500}

func shapeKimi(out map[string]any) {
	for name, most := range kimiLimits {
		v, ok := out[name]
		if !ok {
			continue
		}
		text := []rune(JSONText(v))
		out[name] = string(text[:min(len(text), most)])
	}
}

// readKimi passes over everything but the two ways to block. An answer whose
// hookSpecificOutput is not an object makes kimi-cli drop the answers of every
// hook of the event.
func readKimi(a output) (policy.Result, error) {
	d := a.draft()
	switch {
	case a.Exit == 2:
		d.verdict(policy.Deny, strings.TrimSpace(a.Stderr))
		return d.done()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	}
	v, err := looseJSON(a.Stdout)
	m, ok := v.(map[string]any)
	if err != nil || !ok {
		return policy.Result{}, nil
	}
	own, there := m["hookSpecificOutput"]
	o, isObject := own.(map[string]any)
	switch {
	case !there:
	case !isObject && a.faithful:
		d.r.Agent = giveUp
		return d.r, nil
	case !isObject:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer: hookSpecificOutput must be an object; kimi-cli itself drops every answer of the event")
	case o["permissionDecision"] == "deny":
		reason, _ := o["permissionDecisionReason"].(string)
		d.verdict(policy.Deny, reason)
	}
	return d.done()
}

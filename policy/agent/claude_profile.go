package agent

import (
	"slices"

	"github.com/hookc/hookc/policy"
)

// claudeProfile is how Claude Code runs the hooks of its settings: all at once
// on what the event began with, none of them stopping another, the most
// restrictive answer holding (docs/dialects, claude §4.4, §4.6). Of answers
// that come in any order there the later in the files holds here.
func claudeProfile(protocol policy.Protocol) *Profile {
	return &Profile{
		Protocol: protocol,
		Files: []ConfigFile{
			{Tier: policy.TierManaged, Base: System, Path: "etc/claude-code/managed-settings.json", Format: "claude"},
			{Tier: policy.TierUser, Base: Home, Path: ".claude/settings.json", Format: "claude", Env: "CLAUDE_CONFIG_DIR", EnvPath: "settings.json"},
			{Tier: policy.TierProject, Base: Project, Path: ".claude/settings.json", Format: "claude"},
			{Tier: policy.TierLocal, Base: Project, Path: ".claude/settings.local.json", Format: "claude"},
		},
		Tools: claudeTools, Open: []string{"mcp__*"},
		Rules: func(bool) policy.Profile {
			rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
			for _, row := range claudeRows {
				rules.Strategies[row.event] = &policy.StrategySpec{
					Strategy: "claude", Snapshot: true, Halt: policy.HaltNever,
					Fold: policy.FoldMax | policy.FoldReasons | policy.FoldLastPatch,
					Doc:  "all run on one snapshot, the most restrictive wins", Adjust: row.adjust, Sink: row.sink,
				}
			}
			return rules
		},
	}
}

// claudeTools are the tools Claude Code has by itself.
var claudeTools = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "CronCreate", "CronDelete", "CronList", "Edit", "EndConversation", "EnterPlanMode",
	"EnterWorktree", "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "Monitor", "MultiEdit",
	"NotebookEdit", "NotebookRead", "PowerShell", "Read", "ReadMcpResourceTool", "SendMessage", "Skill", "SlashCommand", "StructuredOutput",
	"Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoWrite", "ToolSearch",
	"WebFetch", "WebSearch", "Write",
}

// everyone is a bound on processes that no configuration meets: the agent has
// none.
const everyone = 1 << 10

// claudeRow is what Claude Code obeys at an event, where that differs from the
// canonical row, and what becomes of the folded answers.
type claudeRow struct {
	event  policy.Event
	adjust func(*policy.EventSpec)
	sink   func(*policy.Context, policy.Result) policy.Result
}

// guards makes an event of Claude Code's own one that can be refused.
func guards(class policy.Class, powers policy.Powers, context bool) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		s.Class, s.Powers, s.Context = class, powers, context
	}
}

// obeys sets what an event obeys: the verdicts and controls, and whether it
// takes context.
func obeys(powers policy.Powers, context bool) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		s.Powers, s.Context, s.Inject, s.Retry = powers, context, false, s.Class == policy.Quality
	}
}

// watches makes an event one that only observes.
func watches(context bool) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		s.Class, s.Powers, s.Writes, s.Context, s.Inject, s.Feedback, s.Retry, s.Refused = policy.Observe, 0, nil, context, false, false, false, nil
	}
}

const claudeMayDeny = policy.MayDeny | policy.MayHalt

var claudeRows = []claudeRow{
	{policy.SessionStart, watches(true), nil},
	{policy.SessionEnd, watches(false), nil},
	{policy.PreSendMessage, func(s *policy.EventSpec) {
		obeys(claudeMayDeny, true)(s)
		s.Writes, s.Feedback = nil, false // a prompt cannot be changed
	}, withoutBlocked},
	{policy.PreToolExecution, func(s *policy.EventSpec) {
		s.Powers = policy.MayAllow | policy.MayAsk | policy.MayDefer | claudeMayDeny
	}, withoutDeferred},
	{policy.PermissionRequest, nil, nil},
	{policy.PostToolExecution, obeys(claudeMayDeny, true), nil},
	{policy.PostToolExecutionFailure, func(s *policy.EventSpec) {
		obeys(claudeMayDeny, true)(s)
		s.Writes = nil
	}, nil},
	{policy.StopEvent, nil, goingOn},
	{policy.SubagentStop, nil, goingOn},
	{policy.SubagentStart, watches(true), nil},
	{policy.StopFailure, watches(false), nil},
	{policy.Notify, watches(false), nil},
	{policy.PreAutoCompact, obeys(policy.MayDeny, false), nil},
	{policy.PostAutoCompact, watches(false), nil},
	{"ext.Setup", watches(true), nil},
	{"ext.UserPromptExpansion", guards(policy.Guard, claudeMayDeny, true), withoutBlocked},
	{"ext.PostToolBatch", guards(policy.Guard, claudeMayDeny, true), nil},
	{"ext.TaskCreated", guards(policy.Guard, policy.MayDeny, false), nil},
	{"ext.TaskCompleted", guards(policy.Guard, claudeMayDeny, false), nil},
	{"ext.TeammateIdle", guards(policy.Quality, claudeMayDeny, false), nil},
	{"ext.ConfigChange", guards(policy.Guard, policy.MayDeny, false), nil},
	{"ext.PreModelSwitch", guards(policy.Guard, policy.MayAllow|policy.MayAsk|policy.MayDeny, false), nil},
	{"ext.PostModelSwitch", watches(true), nil},
	{"ext.Elicitation", guards(policy.Guard, policy.MayDeny, false), nil},
	{"ext.ElicitationResult", guards(policy.Guard, policy.MayDeny, false), nil},
	// The context is the path of the work tree.
	{"ext.WorktreeCreate", guards(policy.Guard, policy.MayDeny, true), lastContext},
	{"ext.WorktreeRemove", guards(policy.Guard, policy.MayDeny, false), nil},
	{"ext.InstructionsLoaded", watches(false), nil},
	{"ext.MessageDisplay", watches(false), nil},
	{"ext.PermissionDenied", watches(false), nil},
	{"ext.CwdChanged", watches(false), nil},
	{"ext.DirectoryAdded", watches(false), nil},
	{"ext.FileChanged", watches(false), nil},
}

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
	r.Context = slices.Concat(r.Context, r.Feedback)
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

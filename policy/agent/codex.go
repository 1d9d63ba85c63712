package agent

import (
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/supersede"
	"github.com/hookc/hookc/policy/pattern"
)

// codex is that of OpenAI Codex. Anything it does not expect, an unknown key,
// a refusal without a reason, makes the hook "failed" and lets the action
// through, so answers are as plain as they can be: exit status 2 with a reason
// wherever that refuses. `allow` is written only to carry a rewrite, the one
// form Codex takes it in; it approves nothing.
var codexAgent, _ = Agent{
	ID: "codex", Version: "0.169.0", Aliases: []string{"codex-cli", "openai-codex"},
	Doc:      "OpenAI Codex: exit code 2 and stderr, or JSON on stdout",
	eventKey: "hook_event_name",
	keys: lists.Concat(
		same(policy.FieldSessionID, policy.FieldTranscriptPath, policy.FieldCwd, policy.FieldPermissionMode,
			policy.FieldAgentID, policy.FieldAgentType, policy.FieldToolName, policy.FieldToolInput, policy.FieldToolUseID),
		sameAt([]policy.Event{policy.PreAutoCompact, policy.PostAutoCompact}, policy.FieldTrigger),
		sameAt([]policy.Event{policy.StopEvent, policy.SubagentStop}, policy.FieldStopHookActive),
		sameAt([]policy.Event{policy.SessionStart, policy.PreSendMessage, policy.PreToolExecution, policy.PermissionRequest,
			policy.PostToolExecution, policy.StopEvent, policy.SubagentStart, policy.SubagentStop, policy.PreAutoCompact,
			policy.PostAutoCompact, "ext.Interrupt"}, policy.FieldModel),
		sameAt([]policy.Event{policy.SessionStart}, policy.FieldSource),
		sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
		[]key{
			{name: "agent_type", field: policy.FieldSubagentType, use: sent},
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
			{name: "tool_response", field: policy.FieldToolResult},
			{name: "last_assistant_message", field: policy.FieldAssistantOutput, at: []policy.Event{policy.StopEvent, policy.SubagentStop}},
		},
	),
	points: []point{
		{name: "SessionStart", event: policy.SessionStart, may: MayContext | MaySystem | MayEnd, at: At{Field: policy.FieldSource}},
		{name: "SessionEnd", event: policy.SessionEnd, at: At{Field: policy.FieldReason}},
		{name: "UserPromptSubmit", event: policy.PreSendMessage, may: MayDeny | MayContext | MaySystem},
		{name: "PreToolUse", event: policy.PreToolExecution, may: MayDeny | MayContext | MaySystem, writes: []policy.Field{policy.FieldToolInput},
			at: At{Missed: []string{"apply_patch", "Edit", "Write"}, Missing: "Bash",
				MissedText: "a patch that Codex makes through the shell is a call of Bash: these hooks do not see it", MissedHint: "add |Bash, and look at the command"}},
		{name: "PermissionRequest", event: policy.PermissionRequest, may: MayAllow | MayDeny | MaySystem},
		// What blocks a result replaces it by the reason: a rewrite in full.
		{name: "PostToolUse", event: policy.PostToolExecution, may: MayDeny | MayContext | MaySystem, writes: []policy.Field{policy.FieldToolResult}},
		{name: "Stop", event: policy.StopEvent, may: MayDeny | MayEnd | MaySystem},
		{name: "SubagentStart", event: policy.SubagentStart, may: MayContext | MaySystem, shape: shapeClaudeAgent, at: At{Field: policy.FieldSubagentType}},
		{name: "SubagentStop", event: policy.SubagentStop, may: MayDeny | MayEnd | MaySystem, shape: shapeClaudeAgent, at: At{Field: policy.FieldSubagentType}},
		{name: "PreCompact", event: policy.PreAutoCompact, may: MayDeny | MaySystem, at: At{Field: policy.FieldTrigger}},
		{name: "PostCompact", event: policy.PostAutoCompact, may: MaySystem, at: At{Field: policy.FieldTrigger}},
		{name: "Interrupt", event: "ext.Interrupt"},
	},
	Profile: codexProfile,
	Files: []File{
		{Tier: policy.TierManaged, Base: System, Path: "etc/codex/hooks.json"},
		{Tier: policy.TierManaged, Base: System, Path: "etc/codex/config.toml"},
		{Tier: policy.TierUser, Base: Home, Path: ".codex/hooks.json", Env: "CODEX_HOME", EnvPath: "hooks.json", Install: Writes},
		{Tier: policy.TierUser, Base: Home, Path: ".codex/config.toml", Env: "CODEX_HOME", EnvPath: "config.toml", Install: Instead, Layout: GroupTables},
		{Tier: policy.TierProject, Base: Project, Path: ".codex/hooks.json", Install: Writes},
		{Tier: policy.TierProject, Base: Project, Path: ".codex/config.toml", Install: Instead, Layout: GroupTables},
	},
	protects: []string{".codex/hooks", "~/.codex/hooks", "/etc/codex"},
	settings: &Settings{
		Handler: claudeHandler,
		Unit:    time.Second, Standard: 10 * time.Minute,
		Matchers: listed("_|", "|"),
		Switches: []Switch{{Path: "features.hooks", TurnsManaged: true, Ranks: []policy.Tier{policy.TierManaged, policy.TierProject, policy.TierUser}}},
		Reading: Reading{
			Doc:    "hooks.json and config.toml of Codex",
			Beside: []string{"state"}, // which hooks are trusted
			Matcher: MatcherReading{
				Flavour: pattern.RE2, Star: true, // as Rust has them: much as Go does
				NotText:    "a matcher is text; this is %s: the group is dropped",
				NotPattern: "%q is no regular expression for Codex (%v): the group is dropped",
			},
			Hook: HookReading{
				Types: []string{"command"}, Typed: true, NotRun: "Codex runs no hooks of type TYPE: it is passed over",
				Async: "async", Timeouts: TimeoutsSeconds,
			},
			Races: true,
		},
		Trust:   "Codex skips a hook in silence until its definition is trusted: start codex and accept it under /hooks",
		Trusted: "hooks.state",
	},
	deliver:       deliverCodex,
	refuseUnknown: exit2,
	noticeExit:    1,
	scripts: scripts{
		// Codex sends the transcript's path always, null when there is none.
		shape: func(out map[string]any) {
			if _, ok := out["transcript_path"]; !ok {
				out["transcript_path"] = nil
			}
		},
		read:  readCodex,
		shell: "bash", // as most users' shell; it is no login shell, whose files an agent may write
	},
}, register(codexAgent)

func deliverCodex(a *answer) Wire {
	out, own := reply{}, reply{}
	switch {
	case a.act == deny && a.point.event == policy.PreAutoCompact:
		out["continue"], out["stopReason"] = false, a.reason
	case a.act == deny && a.point.event == policy.PostToolExecution:
		out["decision"], out["reason"] = "block", a.reason
	case a.act == deny:
		return exit2(a.reason)
	case a.act == end:
		out["continue"], out["stopReason"] = false, a.reason
	case a.act == allow:
		own.under("decision", reply{"behavior": "allow"})
	}
	if input, ok := a.patch[policy.FieldToolInput]; ok {
		own["permissionDecision"], own["updatedInput"] = "allow", input
	}
	if v, ok := a.patch[policy.FieldToolResult]; ok && a.act != deny {
		out["decision"], out["reason"] = "block", some(JSONText(v), "(no output)")
	}
	out.text("systemMessage", a.systemText())
	own.text("additionalContext", a.contextText())
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	return out.wire(0, "")
}

// codexProfile is how Codex runs its hooks: all at once, none stopping
// another, a block before a rewrite, the first blocker giving the reason. Of
// rewrites the one that finishes last holds there, the last in the files here
// (docs/reference/dialects, codex §4.1).
var codexProfile = &Profile{
	// A shell command is Bash, whatever the model calls it; patches that are
	// not made through it are apply_patch, which Edit and Write match too.
	Tools: []string{"Bash", "apply_patch", "Edit", "Write", "update_plan", "view_image", "web_search", "write_stdin", "spawn_agent", "send_input", "wait_agent", "close_agent"},
	Open:  []string{"mcp__*"},
	Rules: func(bool) policy.Profile {
		rows := map[policy.Event]func(*policy.EventSpec){
			policy.SessionStart: func(s *policy.EventSpec) {
				watches(true)(s)
				s.Powers = policy.MayHalt
			},
			policy.SessionEnd: watches(false), policy.SubagentStart: watches(true), policy.PostAutoCompact: watches(false),
			policy.PreSendMessage: func(s *policy.EventSpec) {
				obeys(claudeMayDeny, true)(s)
				s.Writes, s.Feedback = nil, false
			},
			// Codex passes over a question and a stop; without --faithful they hold.
			policy.PreToolExecution: func(s *policy.EventSpec) {
				s.Powers = policy.MayAsk | claudeMayDeny
			},
			policy.PermissionRequest: func(s *policy.EventSpec) { s.Writes = nil },
			policy.PostToolExecution: func(s *policy.EventSpec) {
				obeys(policy.MayDeny, true)(s)
				s.Writes = nil
			},
			policy.StopEvent: obeys(claudeMayDeny, false), policy.SubagentStop: obeys(claudeMayDeny, false),
			policy.PreAutoCompact: obeys(policy.MayDeny, false),
			"ext.Interrupt":       watches(false),
		}
		rules := policy.Profile{Flat: true, MaxConcurrent: everyone, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for event, adjust := range rows {
			rules.Strategies[event] = &policy.StrategySpec{
				Strategy: "codex", Snapshot: true, Halt: policy.HaltNever,
				Fold:  policy.FoldMax,
				Doc:   "all run on one snapshot, any block wins",
				Rules: policy.Rules{Row: adjust, Supersede: supersede.LaterChange, Conclude: firstRefusal},
			}
		}
		return rules
	},
}

// firstRefusal: the first hook that refuses gives the reasons, and what is
// refused is not rewritten.
func firstRefusal(_ *policy.Context, r policy.Result) policy.Result {
	if r.Verdict != policy.Deny {
		return r
	}
	r.Patch = policy.Patch{}
	var own []policy.Reason
	for _, reason := range r.Reasons {
		if reason.Hook == r.VerdictBy.Name {
			own = append(own, reason)
		}
	}
	if len(own) > 0 {
		r.Reasons = own
	}
	return r
}

// codexBlocks are the events at which status 2 and `decision: block` refuse.
var codexBlocks = []policy.Event{policy.PreSendMessage, policy.PreToolExecution, policy.PostToolExecution, policy.StopEvent, policy.SubagentStop}

func readCodex(a output) (policy.Result, error) {
	text := strings.TrimSpace(a.Stdout)
	d := a.draft()
	switch {
	case a.Exit == 2 && (lists.Among(codexBlocks, a.event) || a.event == policy.PermissionRequest):
		reason := a.complaint("")
		if reason == "" {
			d.codexFlaw("exit status 2 needs a reason on standard error")
		}
		d.verdict(policy.Deny, reason)
		return d.codex()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	case text == "":
		return policy.Result{}, nil
	case text[0] == '{' || text[0] == '[':
		v, err := looseJSON(text)
		m, ok := v.(map[string]any)
		if err != nil || !ok {
			return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
		}
		d.codexObject(m)
		return d.codex()
	}
	switch a.event {
	case policy.PreSendMessage, policy.SessionStart:
		d.context(text)
	case policy.StopEvent, policy.SubagentStop:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is text; %s takes JSON", a.event)
	}
	return d.done()
}

// codexFlaw notes what makes Codex pass over the whole answer.
func (d *draft) codexFlaw(format string, args ...any) {
	d.errs = append(d.errs, fault.Errorf("codex passes over the whole answer: "+format, args...))
}

// codex is done; a faithful reader keeps nothing of a flawed answer.
func (d *draft) codex() (policy.Result, error) {
	r, err := d.done()
	if err != nil && d.faithful {
		return policy.Result{}, err
	}
	return r, err
}

var (
	codexKeys = []string{"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
	// codexOwn are the keys of hookSpecificOutput beside the event's name.
	codexOwn = map[policy.Event][]string{
		policy.SessionStart: {"additionalContext"}, policy.PreSendMessage: {"additionalContext"},
		policy.SubagentStart: {"additionalContext"}, policy.PermissionRequest: {"decision"},
		policy.PostToolExecution: {"additionalContext", "updatedMCPToolOutput"},
		policy.PreToolExecution:  {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"},
	}
)

func (d *draft) codexUnknown(m map[string]any, where string, known ...string) {
	for _, k := range lists.Keys(m) {
		if !lists.Has(known, k) {
			d.codexFlaw("%s has no key %q", where, k)
		}
	}
}

// codexObject reads an object. Nothing of it is lost to a flaw beside it until
// codex decides what a flaw costs.
func (d *draft) codexObject(m map[string]any) {
	d.codexUnknown(m, "an answer", codexKeys...)
	top := d.object(m)
	own := top.sub("hookSpecificOutput")
	if own.m != nil {
		native := d.agent.EventName(d.event)
		d.codexUnknown(own.m, "hookSpecificOutput", append([]string{"hookEventName"}, codexOwn[d.event]...)...)
		if name := own.text("hookEventName"); name != native {
			d.codexFlaw("hookSpecificOutput.hookEventName must be %q", native)
		}
	}
	d.system(top.text("systemMessage"))
	d.r.Suppress, _ = top.flag("suppressOutput")
	d.context(own.text("additionalContext"))
	if on, ok := top.flag("continue"); ok && !on {
		d.codexStop(top.text("stopReason"))
	}
	d.codexDecision(top.text("decision"), top.text("reason"))
	switch d.event {
	case policy.PreToolExecution:
		d.codexCall(own)
	case policy.PermissionRequest:
		d.codexPermission(own.sub("decision"))
	}
}

// codexStop reads `continue: false`.
func (d *draft) codexStop(reason string) {
	switch d.event {
	case policy.PreToolExecution, policy.PermissionRequest:
		d.codexFlaw("continue is not heard at %s", d.agent.EventName(d.event))
		d.halt(reason)
	case policy.PostToolExecution:
		// The result becomes the reason; the turn goes on.
		d.verdict(policy.Deny, lists.First(reason, "stopped by "+d.by.Name))
	case policy.PreAutoCompact:
		d.verdict(policy.Deny, reason)
	default:
		d.halt(reason)
	}
}

// codexDecision reads the top-level decision.
func (d *draft) codexDecision(word, reason string) {
	switch {
	case word == "":
	case word != "block":
		d.codexFlaw("decision must be block, not %q", word)
		if forbids(word) {
			d.verdict(policy.Deny, reason)
		}
	case !lists.Among(codexBlocks, d.event):
		d.codexFlaw("%s blocks nothing", d.agent.EventName(d.event))
	default:
		if strings.TrimSpace(reason) == "" {
			d.codexFlaw("a block needs a reason")
		}
		d.verdict(policy.Deny, reason)
	}
}

// codexCall reads the decision on a call. Allow is a word that only carries a
// rewrite: it approves nothing.
func (d *draft) codexCall(own fields) {
	word, reason := own.text("permissionDecision"), own.text("permissionDecisionReason")
	input := own.sub("updatedInput")
	switch word {
	case "deny":
		if strings.TrimSpace(reason) == "" {
			d.codexFlaw("a denial needs permissionDecisionReason")
		}
		d.verdict(policy.Deny, reason)
		return
	case "ask":
		d.codexFlaw("permissionDecision ask is not heard")
		d.verdict(policy.Ask, reason)
		return
	case "allow":
		if input.m == nil {
			d.codexFlaw("permissionDecision allow needs updatedInput")
		}
	case "":
		if input.m != nil {
			d.codexFlaw("updatedInput needs permissionDecision allow")
		}
	default:
		d.codexFlaw("permissionDecision must be allow or deny, not %q", word)
	}
	if input.m != nil {
		d.replace(policy.FieldToolInput, input.m)
	}
}

func (d *draft) codexPermission(decision fields) {
	switch word := decision.text("behavior"); word {
	case "":
	case "allow":
		d.verdict(policy.Allow, "")
	case "deny":
		d.verdict(policy.Deny, decision.text("message"))
	default:
		d.codexFlaw("decision.behavior must be allow or deny, not %q", word)
	}
}

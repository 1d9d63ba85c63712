package agent

import (
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/js"
	"github.com/hookc/hookc/policy/pattern"
)

// qwen is that of Qwen Code: Gemini CLI's hooks under Claude Code's names. A
// call is refused by exit status 2, which no other hook's `allow` undoes;
// rewrites and blocks after the fact have no effect there. At an ending
// `continue: false` keeps some releases working, so it is not written.
var qwenCode, _ = Agent{
	ID: "qwen", Version: "0.15.10", Aliases: []string{"qwen-code"},
	Doc:      "Qwen Code: exit code 2 and stderr, or JSON on stdout",
	eventKey: "hook_event_name",
	mcp:      mcpNames{"server_name", "tool_name"},
	keys: lists.Concat(
		same(policy.FieldSessionID, policy.FieldTranscriptPath, policy.FieldCwd, policy.FieldTimestamp, policy.FieldPermissionMode,
			policy.FieldAgentID, policy.FieldAgentType),
		sameAt(qwenStarting, policy.FieldSource, policy.FieldModel),
		sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
		sameAt(qwenTools, policy.FieldToolName, policy.FieldToolInput, policy.FieldToolUseID),
		sameAt(qwenEndings, policy.FieldStopHookActive),
		sameAt([]policy.Event{policy.Notify}, policy.FieldMessage, policy.FieldTitle, policy.FieldNotificationType),
		sameAt(qwenCompacts, policy.FieldTrigger),
		[]key{
			{name: "prompt", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
			{name: "mcp_context", field: policy.FieldMCP, at: qwenTools},
			{name: "tool_response", field: policy.FieldToolResult, at: []policy.Event{policy.PostToolExecution}},
			{name: "error", field: policy.FieldToolError, at: []policy.Event{policy.PostToolExecutionFailure}},
			{name: "error", field: policy.FieldErrorType, at: []policy.Event{policy.StopFailure}, use: here},
			{name: "last_assistant_message", field: policy.FieldAssistantOutput, at: append([]policy.Event{policy.StopFailure}, qwenEndings...)},
			{name: "agent_type", field: policy.FieldSubagentType, at: qwenAgents, use: sent},
		},
	),
	env:     []envKey{{"QWEN_PROJECT_DIR", policy.FieldCwd}, {"GEMINI_PROJECT_DIR", policy.FieldCwd}},
	points:  qwenPoints,
	Profile: qwenProfile,
	Files: []File{
		{Tier: policy.TierProject, Base: Project, Path: ".qwen/settings.json", Install: Writes},
		{Tier: policy.TierUser, Base: Home, Path: ".qwen/settings.json", Env: "QWEN_HOME", EnvPath: "settings.json", Install: Writes},
		{Tier: policy.TierExtension, Base: Home, Path: ".qwen/extensions", Env: "QWEN_HOME", EnvPath: "extensions", Format: "qwenextensions"},
	},
	protects: []string{".qwen/hooks", "~/.qwen/hooks"},
	settings: &Settings{
		Handler: Handler{Type: "command", Command: "command", Timeout: "timeout", Name: "name"},
		Unit:    time.Millisecond, Standard: time.Minute,
		Matchers: searched,
		Reading: Reading{
			Doc: "settings.json of Qwen Code", Comments: true, References: NamedReferences, Extension: "qwen-extension.json",
			Own:  []string{"GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "QWEN_PROJECT_DIR"},
			Gone: []string{"enabled", "disabled", "notifications"}, GoneTo: "disableAllHooks",
			Matcher: MatcherReading{Flavour: pattern.ECMAScript, Star: true, Trim: true, Absent: EmptyHolds, Loose: true},
			Hook: HookReading{
				Types: []string{"command"}, Typed: true, NotRun: "a hook of type TYPE does not run here: hookc runs commands",
				Env: "env", Async: "async", AsyncQuiet: true, Timeouts: TimeoutsJavaScript,
			},
		},
		Switches:  []Switch{{Path: "disableAllHooks", Off: true}, {Path: "hooksConfig.enabled"}, {Path: "hooksConfig.disabled", Names: true}},
		StartOnly: true,
		Trust:     "Qwen Code runs hooks of settings files only in a folder it trusts",
	},
	deliver:       deliverQwen,
	refuseUnknown: exit2,
	noticeExit:    1, stderrIsAnswer: true,
	scripts: scripts{
		env: []envKey{
			{"GEMINI_PROJECT_DIR", policy.FieldCwd}, {"CLAUDE_PROJECT_DIR", policy.FieldCwd}, {"QWEN_PROJECT_DIR", policy.FieldCwd},
		},
		anyExit: true,
		read:    readQwen, native: nativeQwen,
		shell: "bash", expand: expandQwen, cut: true, waits: true,
	},
}, register(qwenCode)

var qwenPoints = []point{
	{name: "SessionStart", event: policy.SessionStart, may: qwenSays | MayContext, at: At{Field: policy.FieldSource}},
	{name: "SessionEnd", event: policy.SessionEnd, at: At{Field: policy.FieldReason}},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: qwenSays | MayDeny | MayContext},
	{name: "PreToolUse", event: policy.PreToolExecution, may: qwenSays | MayAllow | MayAsk | MayDeny | MayContext},
	{name: "PermissionRequest", event: policy.PermissionRequest, may: qwenSays | MayAllow | MayDeny},
	{name: "PostToolUse", event: policy.PostToolExecution, may: qwenSays | MayContext},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure, may: qwenSays | MayContext},
	{name: "Stop", event: policy.StopEvent, may: qwenSays | MayDeny},
	{name: "SubagentStart", event: policy.SubagentStart, may: qwenSays | MayContext, shape: shapeClaudeAgent, at: At{Field: policy.FieldAgentType}},
	{name: "SubagentStop", event: policy.SubagentStop, may: qwenSays | MayDeny, shape: shapeClaudeAgent, at: At{Field: policy.FieldAgentType}},
	{name: "StopFailure", event: policy.StopFailure, at: At{Field: policy.FieldErrorType, Word: true}},
	{name: "Notification", event: policy.Notify, at: At{Field: policy.FieldNotificationType, Word: true}},
	{name: "PreCompact", event: policy.PreAutoCompact, at: At{Field: policy.FieldTrigger, Word: true}},
	{name: "PostCompact", event: policy.PostAutoCompact, at: At{Field: policy.FieldTrigger, Word: true}},
}

const qwenSays = MaySystem | MaySuppress

func deliverQwen(a *answer) Wire {
	out, own := reply{}, reply{}
	switch {
	case a.point.event == policy.PermissionRequest && a.act == allow:
		own.under("decision", reply{"behavior": "allow"})
	case a.point.event == policy.PermissionRequest && a.act == deny:
		own.under("decision", reply{"behavior": "deny", "message": a.reason})
	case a.point.event == policy.PreToolExecution && a.act == deny:
		return exit2(a.reason)
	case a.act == deny:
		out["decision"], out["reason"] = "block", a.reason
	case a.act == allow, a.act == ask:
		own["permissionDecision"] = a.act.String()
		own.text("permissionDecisionReason", a.reason)
	}
	out.text("systemMessage", a.systemText())
	out.flag("suppressOutput", a.suppress)
	if !a.act.refuses() {
		own.text("additionalContext", a.contextText())
	}
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	return out.wire(0, "")
}

// qwenProfile is how Qwen Code runs the hooks of its settings: the project's
// before the user's, at once unless a group that matches is sequential
// (docs/reference/dialects, qwen §4.2).
var qwenProfile = &Profile{
	Tools: []string{"agent", "ask_user_question", "cron_create", "cron_delete", "cron_list", "edit", "exit_plan_mode", "glob", "grep_search",
		"list_directory", "lsp", "monitor", "read_file", "run_shell_command", "save_memory", "send_message", "skill", "structured_output",
		"task_stop", "todo_write", "tool_search", "web_fetch", "write_file"},
	Open: []string{"mcp__*"}, Called: geminiCalled,
	Rules: func(faithful bool) policy.Profile {
		out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for i := range qwenPoints {
			event := qwenPoints[i].event
			out.Strategies[event] = forkSpec("qwen", qwenWord(event), qwenMay(&qwenPoints[i]), qwenConclude(event, faithful))
		}
		return out
	},
}

// qwenMay is what a hook of Qwen Code's own may bring about: more than a hook
// is let say as the last one, since at a result its word stands here.
func qwenMay(p *point) Power {
	switch p.event {
	case policy.PermissionRequest:
		return p.may | MayEnd
	case policy.PostToolExecution:
		return p.may | MayDeny
	}
	return p.may
}

// qwenWord says in a few words how answers combine at an event.
func qwenWord(e policy.Event) string {
	switch e {
	case policy.PreToolExecution:
		return "any block holds, of permissions the last"
	case policy.PermissionRequest:
		return "any deny holds"
	case policy.PreSendMessage, policy.StopEvent, policy.SubagentStop:
		return "any block holds"
	}
	return "contexts are joined"
}

// qwenAnswer is what Qwen Code makes of its hooks' answers at an event: a
// reading of its own code (docs/reference/dialects, qwen §4.2). One answer counts as it
// is; several are merged first, and what the merge loses is lost to a faithful
// reading alone.
func qwenAnswer(event policy.Event, contributions []policy.AgentAnswer, faithful bool) policy.Result {
	q := &qwenMerge{forkMerge: forkMerge{agent: "Qwen Code", event: event, faithful: faithful, contributions: contributions}}
	if event == policy.StopFailure || !q.sound(len(contributions) > 1 || q.looksInside()) { // after an error nothing counts
		return q.r
	}
	q.merge()
	switch event {
	case policy.PreToolExecution:
		q.before()
	case policy.PermissionRequest:
		q.permission()
	case policy.PostToolExecution:
		q.after()
	case policy.PreSendMessage, policy.StopEvent, policy.SubagentStop:
		q.gate()
	}
	q.texts()
	return q.r
}

func qwenConclude(event policy.Event, faithful bool) func(*policy.Context, policy.Result) policy.Result {
	return concludeOwn(func(_ *policy.Context, contributions []policy.AgentAnswer) policy.Result {
		return qwenAnswer(event, contributions, faithful)
	})
}

// qwenMerge is one merge of answers.
type qwenMerge struct {
	forkMerge
	// top and own are the merged answer and its hookSpecificOutput.
	top, own map[string]any
	// by is who said a part last, by its key.
	by map[string]policy.By
}

// looksInside reports whether Qwen Code looks into the hookSpecificOutput of an
// answer that is alone.
func (q *qwenMerge) looksInside() bool {
	switch q.event {
	case policy.StopEvent, policy.SubagentStop, policy.SessionEnd, policy.PreAutoCompact, policy.PostAutoCompact:
		return false
	}
	return true
}

// merge is mergeOutputs: later parts replace earlier ones, but a block holds,
// `continue: false` holds, and reasons and contexts are joined later.
func (q *qwenMerge) merge() {
	q.top, q.own, q.by = map[string]any{}, map[string]any{}, map[string]policy.By{}
	for _, s := range q.contributions {
		for k, v := range s.Value {
			if k != "hookSpecificOutput" {
				q.top[k], q.by[k] = v, s.By
			}
		}
		own, _ := js.Has(s.Value["hookSpecificOutput"])
		for k, v := range own {
			q.own[k], q.by["hookSpecificOutput."+k] = v, s.By
		}
	}
	if len(q.contributions) < 2 || !q.joins() {
		return
	}
	delete(q.top, "decision")
	delete(q.top, "continue")
	delete(q.top, "stopReason")
	for _, s := range q.contributions {
		switch word := s.Value["decision"]; {
		case word == "deny" || word == "block":
			q.top["decision"], q.by["decision"] = "block", s.By
		case word == "allow" && q.top["decision"] != "block":
			q.top["decision"] = "allow"
		}
		if s.Value["continue"] == false {
			q.top["continue"], q.by["continue"] = false, s.By
			if v := s.Value["stopReason"]; js.True(v) {
				q.top["stopReason"] = v
			}
		}
	}
}

// joins reports whether several answers at the event are merged with a block
// holding.
func (q *qwenMerge) joins() bool {
	switch q.event {
	case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.StopEvent, policy.PreSendMessage, policy.SubagentStop:
		return true
	}
	return false
}

// reasons are the reasons of the merged answer: all of them where answers are
// joined, else the last.
func (q *qwenMerge) reasons() []policy.Reason {
	all := js.Texts(q.contributions, "reason")
	if q.joins() || len(all) == 0 {
		return all
	}
	return all[len(all)-1:]
}

// effective is the reason Qwen Code shows: the stop's, else the reasons, else
// that there is none.
func (q *qwenMerge) effective(by policy.By) []policy.Reason {
	if v := q.top["stopReason"]; js.True(v) {
		return []policy.Reason{{Text: js.Text(v), Hook: by.Name, At: by.At}}
	}
	if all := q.reasons(); len(all) > 0 {
		return all
	}
	return []policy.Reason{{Text: geminiNoReason, Hook: by.Name, At: by.At}}
}

//go:noinline
func (q *qwenMerge) deliver(v policy.Verdict, by policy.By, reasons []policy.Reason) {
	q.r.Verdict, q.r.VerdictBy, q.r.Reasons = v, by, reasons
}

var qwenWords = map[string]policy.Verdict{"allow": policy.Allow, "deny": policy.Deny, "ask": policy.Ask}

// before is a tool call: the permission that the last hook gives, else the
// decision, else the end of the run. Each of them but allow only keeps the tool
// from running; the run goes on.
func (q *qwenMerge) before() {
	word, by := q.own["permissionDecision"], q.by["hookSpecificOutput.permissionDecision"]
	own, known := qwenVerdict(word)
	if !known {
		by = q.by["decision"]
		switch word = q.top["decision"]; word {
		case "block":
			own = policy.Deny
		case "approve":
			own = policy.Allow
		default:
			own, _ = qwenVerdict(word)
		}
	}
	switch {
	case own == policy.Deny:
		q.deliver(own, by, q.permissionReasons(by, q.effective(by)))
	case own == policy.Ask: // there is nobody to ask before a tool
		q.deliver(policy.Deny, by, q.permissionReasons(by, []policy.Reason{{Text: "User confirmation required", Hook: by.Name, At: by.At}}))
	case q.top["continue"] == false:
		by = q.by["continue"]
		q.deliver(policy.Deny, by, q.effective(by))
	}
	q.keep()
}

func qwenVerdict(word any) (policy.Verdict, bool) {
	s, _ := word.(string)
	v, known := qwenWords[s]
	return v, known
}

// permissionReasons is the reason of a permission, else the reasons beside it;
// else what else there is to say.
func (q *qwenMerge) permissionReasons(by policy.By, other []policy.Reason) []policy.Reason {
	if text, ok := q.own["permissionDecisionReason"].(string); ok {
		if text == "" {
			return other
		}
		return []policy.Reason{{Text: text, Hook: by.Name, At: by.At}}
	}
	if all := q.reasons(); len(all) > 0 {
		return all
	}
	return other
}

// keep is the safe side at a tool call: what one hook forbids, or asks about,
// no other takes back.
func (q *qwenMerge) keep() {
	for _, s := range q.contributions {
		alone := &qwenMerge{forkMerge: forkMerge{event: q.event, faithful: true, contributions: []policy.AgentAnswer{s}}}
		if len(q.contributions) > 1 {
			alone.merge()
			alone.before()
		}
		switch {
		case alone.r.Verdict <= policy.Allow || alone.r.Verdict <= q.r.Verdict:
		case q.faithful:
			q.warn(s.By, "refuses, and another answer takes that back, as in Qwen Code")
		default:
			q.warn(s.By, "refuses; Qwen Code itself would let another answer take that back")
			q.deliver(alone.r.Verdict, s.By, alone.r.Reasons)
		}
	}
}

// permission is the prompt: any word but allow denies, none at all included
// where several answers were merged.
func (q *qwenMerge) permission() {
	var deny, allow, interrupt bool
	var reasons []policy.Reason
	var by policy.By
	var input any
	for _, s := range q.contributions {
		own, _ := js.Has(s.Value["hookSpecificOutput"])
		decision, ok := own["decision"].(map[string]any)
		if !ok {
			continue
		}
		switch behavior := decision["behavior"]; {
		case behavior == "allow":
			allow = true
		case behavior == "deny" || len(q.contributions) == 1:
			deny = true
		}
		if by.Name == "" || decision["behavior"] == "deny" {
			by = s.By
		}
		if m := decision["message"]; js.True(m) {
			reasons = append(reasons, policy.Reason{Text: js.Text(m), Hook: s.By.Name, At: s.By.At})
		}
		interrupt = interrupt || decision["interrupt"] == true
		if v := decision["updatedInput"]; js.True(v) {
			input = v
		}
	}
	if len(q.contributions) > 1 && !deny && !allow {
		deny, by = true, q.contributions[len(q.contributions)-1].By
	}
	switch {
	case deny:
		q.deliver(policy.Deny, by, reasons)
		if interrupt {
			q.r.Control, q.r.ControlBy, q.r.StopReasons = policy.Halt, by, js.ReasonTexts(reasons)
		}
	case allow:
		q.deliver(policy.Allow, by, reasons)
		if m, ok := input.(map[string]any); ok {
			q.r.Patch = policy.Replace(policy.Path{Field: policy.FieldToolInput}, m)
		}
	}
}

// after is a result: an end of the run replaces it; a block has no effect in
// Qwen Code and hides it here.
func (q *qwenMerge) after() {
	blocks := q.top["decision"] == "deny" || q.top["decision"] == "block"
	switch by := q.by["decision"]; {
	case q.top["continue"] == false:
		by = q.by["continue"]
		q.deliver(policy.Deny, by, q.effective(by))
	case blocks && q.faithful:
		q.warn(by, "blocks a result, which has no effect in Qwen Code")
	case blocks:
		q.warn(by, "blocks a result; Qwen Code itself would show it")
		q.deliver(policy.Deny, by, q.effective(by))
	}
}

// gate is a prompt or an ending.
func (q *qwenMerge) gate() {
	switch by := q.by["decision"]; {
	case q.top["decision"] == "deny" || q.top["decision"] == "block":
		q.deliver(policy.Deny, by, q.effective(by))
	case q.top["continue"] == false:
		by = q.by["continue"]
		q.deliver(policy.Deny, by, q.effective(by))
	}
}

// texts are the contexts and messages.
func (q *qwenMerge) texts() {
	if v := q.top["systemMessage"]; js.True(v) && (len(q.contributions) == 1 || q.event != policy.PermissionRequest) {
		q.r.System = []string{js.Text(v)}
	}
	q.r.Suppress = js.True(q.top["suppressOutput"])
	switch q.event {
	case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.PreSendMessage, policy.SessionStart, policy.SubagentStart:
	default:
		return
	}
	if q.r.Verdict >= policy.Ask && q.event != policy.PostToolExecution {
		return
	}
	q.r.Context = js.Contexts(q.contributions)
}

var (
	qwenTools    = []policy.Event{policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution, policy.PostToolExecutionFailure}
	qwenEndings  = []policy.Event{policy.StopEvent, policy.SubagentStop}
	qwenAgents   = []policy.Event{policy.SubagentStart, policy.SubagentStop}
	qwenStarting = []policy.Event{policy.SessionStart}
	qwenCompacts = []policy.Event{policy.PreAutoCompact, policy.PostAutoCompact}
)

// readQwen reads one answer: what Qwen Code makes of a hook that is alone, on
// the safe side.
func readQwen(a output) (policy.Result, error) {
	a.faithful = false
	r, err := nativeQwen(a)
	if err != nil || len(r.Agent) == 0 {
		return r, err
	}
	out := qwenAnswer(a.event, r.Agent, false)
	out.Warnings = append(r.Warnings, out.Warnings...)
	if out.Verdict == policy.None && out.Control == policy.Go {
		out.Reasons = nil
	}
	return out, nil
}

// nativeQwen reads an answer as Qwen Code's runner does (docs/reference/dialects, qwen
// §4.2). Unless it is followed faithfully, exit status 2 always denies where
// anything can be denied, as does a word that plainly forbids.
func nativeQwen(a output) (policy.Result, error) {
	d := a.draft()
	text := js.Trim(a.Stdout)
	blocks := a.Signal == "" && a.Exit == 2
	if text == "" || blocks {
		text = js.Trim(a.Stderr)
	}
	object, _ := readNative(text, func(text string) map[string]any {
		switch {
		case blocks:
			return map[string]any{"decision": "deny", "reason": text}
		case a.Signal == "" && a.Exit == 0:
			return map[string]any{"decision": "allow", "reason": "Hook executed successfully", "systemMessage": text}
		}
		return map[string]any{"decision": "allow", "reason": "Non-blocking error: " + text, "systemMessage": "Warning: " + text}
	})
	if !a.faithful {
		object = d.qwenSafe(object, blocks)
	}
	if a.Signal != "" {
		d.warn("ended by signal %s; Qwen Code takes what it said all the same", a.Signal)
	}
	if object == nil {
		return d.r, nil
	}
	d.keep(object)
	own, _ := object["hookSpecificOutput"].(map[string]any)
	if v, ok := own["permissionDecision"].(string); ok && d.event == policy.PreToolExecution {
		d.r.Agent[0].Verdict = map[string]policy.Verdict{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny}[v]
	}
	if a.sequential && a.Exit == 0 && a.Signal == "" {
		d.r.Patch = geminiPipe(a, object)
	}
	return d.r, nil
}

// qwenGuards are the events at which Qwen Code obeys a decision.
func qwenGuards(e policy.Event) bool {
	switch e {
	case policy.PreToolExecution, policy.PermissionRequest, policy.PostToolExecution, policy.PreSendMessage, policy.StopEvent, policy.SubagentStop:
		return true
	}
	return false
}

func (d *draft) qwenSafe(object map[string]any, blocks bool) map[string]any {
	if !qwenGuards(d.event) {
		return object
	}
	word, _ := object["decision"].(string)
	own, _ := object["hookSpecificOutput"].(map[string]any)
	perm, _ := own["permissionDecision"].(string)
	if d.event == policy.PermissionRequest {
		return d.qwenSafePermission(object, own, word, blocks)
	}
	call := d.event == policy.PreToolExecution && perm != ""
	switch denies := word == "deny" || word == "block"; {
	case call && perm == "deny":
		return object
	case call && (denies || word == "ask" && perm != "ask"):
		d.warn("decision %q is not heard beside permissionDecision %q; it holds", word, perm)
	case denies:
		return object
	case forbids(word):
		d.warn("decision %q is not a word of the protocol; taken as deny", word)
	case blocks:
		d.warn("exit status 2 with an answer that does not deny; taken as deny")
	default:
		return object
	}
	if word != "ask" || blocks {
		word = "deny"
	}
	out := js.Spread(object, map[string]any{"decision": word})
	if call {
		out["hookSpecificOutput"] = js.Spread(own, map[string]any{"permissionDecision": word})
	}
	return out
}

// qwenSafePermission is qwenSafe at a permission prompt.
func (d *draft) qwenSafePermission(object, own map[string]any, word string, blocks bool) map[string]any {
	decision, _ := own["decision"].(map[string]any)
	switch {
	case decision != nil && decision["behavior"] != "allow":
		return object
	case forbids(word):
		d.warn("decision %q is not heard at a permission prompt; taken as deny", word)
	case blocks:
		d.warn("exit status 2 with an answer that does not deny; taken as deny")
	default:
		return object
	}
	return js.Spread(object, map[string]any{"decision": "deny", "hookSpecificOutput": map[string]any{
		"decision": map[string]any{"behavior": "deny", "message": object["reason"]}}})
}

// expandQwen writes two names into a command's text, as Qwen Code does before
// the shell reads it.
func expandQwen(command string, in *policy.Context) string {
	dir := js.ShellQuote(in.Text(policy.FieldCwd))
	return strings.NewReplacer("$GEMINI_PROJECT_DIR", dir, "$CLAUDE_PROJECT_DIR", dir).Replace(command)
}

package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/js"
	"github.com/hookc/hookc/policy/agent/supersede"
)

// clawdcode is that of ClawdCode. A call is refused by exit status 2; at the
// end of a turn `continue: true` means "keep working", and `prevent: true`
// keeps a compaction from happening. Text after a tool ran becomes context as
// it is, JSON included.
var _ = register(clawdAt("clawdcode", "1", []string{"clawd", "clawd-code", "clawdcode@code"}))

// The variant is the same on the wire; its profile reads the answers of other
// hooks as ClawdCode's document has them, to which exit status 124 is a timeout and
// whose examples use $FILE_PATH.
var _ = register(clawdAt("clawdcode@doc", "doc", nil))

func clawdAt(id, version string, aliases []string) Agent {
	env, unset := clawdEnv, "FILE_PATH"
	if version == "doc" {
		env, unset = append(slices.Clip(env), envKey{unset, policy.FieldPath}), ""
	}
	return Agent{
		timeoutExit: version == "doc",
		ID:          id, Version: version, Aliases: aliases, Profile: clawdProfile,
		Doc: "ClawdCode: exit code 2 and stderr, or JSON on stdout",
		Files: []File{
			{Tier: policy.TierUser, Base: Home, Path: ".clawdcode/config.json", Install: Looks},
			{Tier: policy.TierUser, Base: Home, Path: ".clawdcode/settings.json", Install: Writes},
			{Tier: policy.TierProject, Base: Project, Path: ".clawdcode/config.json", Install: Looks},
			{Tier: policy.TierProject, Base: Project, Path: ".clawdcode/settings.json", Install: Writes},
			{Tier: policy.TierLocal, Base: Project, Path: ".clawdcode/settings.local.json", Install: Looks},
		},
		protects: []string{".clawdcode", "~/.clawdcode"},
		settings: &Settings{
			Handler: claudeHandler,
			Unit:    time.Second, Standard: time.Minute,
			Matchers: underTools,
			Reading: Reading{
				Doc: "config.json and settings.json of ClawdCode", Called: "ClawdCode", GoesOn: true,
				Hook: HookReading{Timeouts: TimeoutsAtOnce, Unset: unset},
			},
			Switches: []Switch{{Path: "hooks.enabled"}},
			Replaces: true,
		},
		eventKey: "hook_event_name", eventEnv: "HOOK_EVENT",
		keys: lists.Concat(
			[]key{
				{name: "project_dir", field: policy.FieldCwd},
				{name: "tool_output", field: policy.FieldToolResult},
				{name: "error", field: policy.FieldToolError},
				{name: "prompt_content", field: policy.FieldUserInput, at: []policy.Event{policy.PreSendMessage}},
				{name: "subagent_id", field: policy.FieldAgentID, at: []policy.Event{policy.SubagentStop}},
			},
			same(policy.FieldHookExecutionID, policy.FieldTimestamp, policy.FieldSessionID, policy.FieldToolName, policy.FieldToolUseID,
				policy.FieldToolInput, policy.FieldMessage, policy.FieldLevel, policy.FieldPreTokens, policy.FieldMessageCount),
			sameAt([]policy.Event{policy.PreToolExecution}, policy.FieldPermissionMode),
			sameAt([]policy.Event{policy.StopEvent, policy.SubagentStop}, policy.FieldStopReason),
		),
		env:    []envKey{{"PROJECT_DIR", policy.FieldCwd}, {"SESSION_ID", policy.FieldSessionID}},
		points: clawdPoints,
		// In yolo mode the agent answers every question itself, with yes.
		narrow: func(in *policy.Context, may Power) Power {
			if clawdYolo(in) {
				return may &^ MayAsk
			}
			return may
		},
		// The rewrite is laid over the original, so nothing can be taken away.
		fits: func(c *Call, f policy.Field, v any) bool {
			old, _ := c.Context.Get(policy.FieldToolInput)
			before, _ := old.(map[string]any)
			after, ok := v.(map[string]any)
			return f != policy.FieldToolInput || ok && keeps(before, after)
		},
		join:          "\n\n",
		deliver:       deliverClawd,
		refuseUnknown: exit2,
		noticeExit:    1,
		scripts: scripts{
			env:     clawdEnv,
			anyExit: true,
			waits:   true, chooses: true,
			read:      readClawd,
			native:    nativeClawd,
			nativeEnv: env,
		},
	}
}

var clawdPoints = []point{
	{name: "PreToolUse", event: policy.PreToolExecution, may: MayDeny | MayAsk, writes: []policy.Field{policy.FieldToolInput}},
	{name: "PostToolUse", event: policy.PostToolExecution, may: MayContext, writes: []policy.Field{policy.FieldToolResult}},
	{name: "PostToolUseFailure", event: policy.PostToolExecutionFailure},
	{name: "PermissionRequest", event: policy.PermissionRequest, may: MayAllow | MayDeny},
	{name: "UserPromptSubmit", event: policy.PreSendMessage, may: MayContext},
	{name: "SessionStart", event: policy.SessionStart},
	{name: "SessionEnd", event: policy.SessionEnd, at: At{Never: true}},
	{name: "Stop", event: policy.StopEvent, may: MayDeny},
	{name: "SubagentStop", event: policy.SubagentStop, may: MayDeny, at: At{Never: true}},
	{name: "Notification", event: policy.Notify, at: At{Never: true}},
	{name: "Compaction", event: policy.PreAutoCompact, may: MayDeny},
}

func deliverClawd(a *answer) Wire {
	out := reply{}
	switch a.point.event {
	case policy.PreToolExecution:
		return clawdTool(a)
	case policy.PermissionRequest:
		switch a.act {
		case allow:
			out["decision"] = "approve"
		case deny:
			out["decision"], out["reason"] = "deny", a.reason
		}
	case policy.StopEvent, policy.SubagentStop:
		if a.act == deny {
			out["continue"], out["reason"] = true, a.reason
		}
	case policy.PreAutoCompact:
		if a.act == deny {
			out["prevent"], out["reason"] = true, a.reason
		}
	case policy.PostToolExecution:
		return clawdResult(a)
	case policy.PreSendMessage:
		return Wire{Stdout: []byte(a.contextText())}
	}
	return out.wire(0, "")
}

// clawdTool answers for a call. A rewrite counts only beside a decision; here
// `allow` is what silence means too, and approves nothing.
func clawdTool(a *answer) Wire {
	out := reply{}
	switch {
	case a.act == deny:
		return exit2(a.reason)
	case a.act == ask:
		out["permissionDecision"] = "ask"
		out.text("permissionDecisionReason", a.reason)
	case a.patch != nil:
		out["permissionDecision"], out["updatedInput"] = "allow", a.patch[policy.FieldToolInput]
	}
	return out.wire(0, "")
}

// clawdResult answers for a result. An answer in JSON would itself be shown to
// the model, so context goes as plain text; a replaced result loses all
// context, which is therefore made part of it.
func clawdResult(a *answer) Wire {
	text := a.contextText()
	v, replaced := a.patch[policy.FieldToolResult]
	if !replaced {
		if json.Valid([]byte(text)) {
			text = "hookc: " + text // a JSON value would be taken for an answer
		}
		return Wire{Stdout: []byte(text)}
	}
	if m, ok := v.(map[string]any); ok {
		if content, ok := m["llmContent"].(string); ok {
			v = content
		}
	}
	result := JSONText(v)
	if text != "" {
		result += "\n\n[Hook Context]\n" + text
	}
	return reply{"additionalContext": "", "updatedOutput": result}.wire(0, "")
}

// clawdProfile is how ClawdCode runs the hooks of its settings: those of a
// call, a permission and an ending one after another until one decides, all
// others at once (docs/reference/dialects, clawdcode §2.4, §2.6).
var clawdProfile = &Profile{
	Tools: []string{"Bash", "Edit", "Glob", "Grep", "Read", "Skill", "Write"}, Open: []string{"mcp__*"},
	Rules: clawdRules,
}

func clawdRules(faithful bool) policy.Profile {
	own := func(powers policy.Powers, context bool, writes ...policy.Field) policy.Rules {
		rules := policy.Rules{Row: clawdObeys(powers, context, writes...)}
		if faithful {
			rules.PassRepeats, rules.Conclude = true, unlessVoid(nil)
		}
		return rules
	}
	serial := func(halt policy.HaltKind, fold policy.Fold, powers policy.Powers, doc string) *policy.StrategySpec {
		return &policy.StrategySpec{Strategy: "clawdcode", Halt: halt, Fold: fold, Doc: doc, Rules: own(powers, false)}
	}
	together := func(powers policy.Powers, context bool, writes ...policy.Field) *policy.StrategySpec {
		return &policy.StrategySpec{Strategy: "clawdcode", Snapshot: true, Halt: policy.HaltNever, Fold: policy.FoldMax,
			Doc: "all run on one snapshot, results in the order of the files", Rules: own(powers, context, writes...)}
	}
	call := serial(policy.HaltAsk, policy.FoldMax, policy.MayAsk|policy.MayDeny, "one after another until one denies or asks")
	call.Rules = own(policy.MayAsk|policy.MayDeny, false, policy.FieldToolInput)
	call.Rules.Supersede, call.Rules.Conclude = supersede.RefusalReplaces, unlessVoid(clawdCall)
	if !faithful {
		call.Rules.Unasked = clawdYolo
	}
	ending := serial(policy.HaltDeny, policy.FoldMax, policy.MayDeny, "one after another until one holds it up")
	prompt := policy.MayDeny // ClawdCode cannot block a prompt; a script that says so is heard all the same
	if faithful {
		prompt = 0
	}
	out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{
		policy.PreToolExecution:  call,
		policy.PermissionRequest: serial(policy.HaltExplicit, policy.FoldFirst, policy.MayAllow|policy.MayDeny, "the first answer decides"),
		policy.StopEvent:         ending,
		policy.PreAutoCompact:    ending,
		policy.PostToolExecution: together(0, true, policy.FieldToolResult),
		policy.PreSendMessage:    together(prompt, true),
	}}
	for _, e := range []policy.Event{policy.PostToolExecutionFailure, policy.SessionStart, policy.SessionEnd, policy.SubagentStop, policy.Notify} {
		out.Strategies[e] = together(0, false)
	}
	return out
}

// clawdObeys narrows an event to what ClawdCode obeys there.
func clawdObeys(powers policy.Powers, context bool, writes ...policy.Field) func(*policy.EventSpec) {
	return func(e *policy.EventSpec) {
		e.Powers, e.Writes, e.Refused, e.Retry = powers, writes, nil, false
		e.Context, e.Inject, e.Feedback = context, false, false
	}
}

func clawdYolo(in *policy.Context) bool { return in.Text(policy.FieldPermissionMode) == "yolo" }

// clawdCall: in yolo mode a question answers itself with yes, and what time
// ran out for is told in the agent's own words.
func clawdCall(before *policy.Context, r policy.Result) policy.Result {
	late := func(f policy.Failure) bool { return f.Hook == r.VerdictBy.Name && f.Kind.Late() }
	if r.Verdict > policy.Allow && slices.ContainsFunc(r.Failed, late) {
		text := "Timeout"
		if r.Verdict == policy.Ask {
			text = "Hook timed out"
		}
		r.Reasons = []policy.Reason{{Text: text, Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	if r.Verdict == policy.Ask && clawdYolo(before) {
		return policy.Result{Failed: r.Failed, Warnings: r.Warnings}
	}
	return r
}

var clawdEnv = []envKey{{"SESSION_ID", policy.FieldSessionID}, {"PROJECT_DIR", policy.FieldCwd}}

// readClawd reads stdout at every status but 1 and 2. ClawdCode passes over
// a status beyond 2 and over broken JSON; here they are failures.
func readClawd(a output) (policy.Result, error) {
	text := js.Trim(a.Stdout)
	d := a.draft()
	if a.Exit == 2 && a.event.Spec().Guarded() {
		clawdBlock(d)
		return d.done()
	}
	// After the fact exit 2 blocks nothing: what was printed counts.
	if a.Exit != 0 && (a.Exit != 2 || text == "") {
		return policy.Result{}, a.failure()
	}
	if text == "" {
		return policy.Result{}, nil
	}
	v, err := looseJSON(text)
	m, ok := v.(map[string]any)
	switch {
	case err == nil && ok:
		clawdObject(d, m, text)
	case a.event == policy.PostToolExecution, a.event == policy.PreSendMessage:
		d.context(text)
	case err == nil:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	case strings.HasPrefix(text, "{"):
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	return d.done()
}

// clawdBlock is exit 2 where something can still be prevented. The reason is
// standard error as it is, line break included.
func clawdBlock(d *draft) {
	d.verdict(policy.Deny, lists.First(d.Stderr, "Blocking error"))
	if d.event != policy.PreToolExecution {
		d.warn("ClawdCode itself passes over exit status 2 at %s; taken as deny", d.event)
	}
}

// clawdHidden: hookSpecificOutput, where there is one, hides the top level of
// an answer. What is forbidden there holds all the same.
func clawdHidden(d *draft, m map[string]any, read func(d *draft, top map[string]any)) {
	top, other := maps.Clone(m), d.output.draft()
	delete(top, "hookSpecificOutput")
	read(other, top)
	if other.r.Verdict > policy.Allow {
		d.verdict(other.r.Verdict, "")
		d.r.Reasons = other.r.Reasons
		d.warn("ClawdCode itself looks at hookSpecificOutput alone; what the answer forbids beside it holds")
	}
}

// clawdObject reads an object.
func clawdObject(d *draft, m map[string]any, text string) {
	o := d.object(m)
	if js.True(m["hookSpecificOutput"]) {
		clawdHidden(d, m, func(d *draft, top map[string]any) { clawdObject(d, top, text) })
		o = o.sub("hookSpecificOutput")
	}
	switch d.event {
	case policy.PreToolExecution:
		d.decide(words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny},
			o.text("permissionDecision"), o.text("permissionDecisionReason"))
		if input := o.sub("updatedInput"); input.m != nil {
			d.patch(policy.Merge(policy.FieldToolInput, input.m))
			if !o.has("permissionDecision") {
				d.warn("ClawdCode itself passes over updatedInput without permissionDecision; it is applied")
			}
		}
	case policy.PermissionRequest:
		d.decide(words{"approve": policy.Allow, "deny": policy.Deny, "ask": policy.None}, o.text("decision"), o.text("reason"))
	case policy.StopEvent, policy.SubagentStop:
		if js.True(o.m["continue"]) {
			d.verdict(policy.Deny, o.text("reason"))
		}
	case policy.PreAutoCompact:
		if js.True(o.m["prevent"]) {
			d.verdict(policy.Deny, o.text("reason"))
		}
	case policy.PostToolExecution:
		d.context(o.text("additionalContext"))
		if o.has("updatedOutput") {
			d.replace(policy.FieldToolResult, o.m["updatedOutput"])
		}
	case policy.PreSendMessage:
		clawdPrompt(d, o, text)
	}
}

// clawdPrompt reads an object at the prompt, where ClawdCode reads none: it
// is text for the model, unless it carries context or plainly forbids.
func clawdPrompt(d *draft, o fields, text string) {
	if word := o.text("decision"); forbids(word) {
		d.decide(nil, word, o.text("reason"))
		return
	}
	if o.has("additionalContext") {
		text = o.text("additionalContext")
	}
	d.context(text)
}

// nativeClawd reads an answer of a hook of ClawdCode's own configuration
// (docs/reference/dialects, clawdcode §2.3, §2.4). A hook that a signal ended has exit
// status 0 there. Statuses beyond 2 are passed over; what such a script, or
// one that fails with status 1, plainly forbids holds here, and is said.
func nativeClawd(a output) (policy.Result, error) {
	d := a.draft()
	if a.Signal != "" {
		d.Exit = 0
		d.warn("ended by signal (%s), which ClawdCode takes for success", a.Signal)
	}
	text := js.Trim(a.Stdout)
	switch a.event {
	case policy.PostToolExecution:
		return nativeClawdResult(d, text)
	case policy.PreSendMessage:
		return nativeClawdPrompt(d, text)
	case policy.PreToolExecution, policy.PermissionRequest, policy.StopEvent, policy.PreAutoCompact:
	default:
		return d.r, nil // ClawdCode looks at nothing a hook says here
	}
	switch {
	case d.Exit == 2:
		nativeClawdBlock(d)
	case d.Exit != 0:
		return nativeClawdFailed(d, text)
	default:
		object, err := nativeClawdObject(d, text)
		if err != nil {
			return policy.Result{}, err
		}
		nativeClawdDecide(d, object)
	}
	return d.r, nil
}

// nativeClawdBlock is exit status 2. Only a call is refused by it; elsewhere
// ClawdCode passes over it, which lets through what the script would not.
func nativeClawdBlock(d *draft) {
	if d.event != policy.PreToolExecution {
		if d.faithful {
			return
		}
		d.warn("ClawdCode itself passes over exit status 2 here; taken as a refusal")
	}
	d.verdict(policy.Deny, lists.First(d.Stderr, "Blocking error"))
}

// nativeClawdFailed is any other status than 0 and 2.
func nativeClawdFailed(d *draft, text string) (policy.Result, error) {
	settled := d.Exit == 1 && d.event == policy.PreToolExecution && !d.passes()
	if object, err := nativeClawdObject(d, text); err == nil && !d.faithful && !settled && d.event != policy.StopEvent {
		nativeClawdDecide(d, object)
		if d.r.Verdict == policy.Deny {
			d.r.Patch = policy.Patch{}
			d.warn("ClawdCode reads no answer beside exit status %d; what it forbids holds", d.Exit)
			return d.r, nil
		}
	}
	d.r = policy.Result{}
	if !settled {
		return policy.Result{}, d.failure()
	}
	if d.onFailure == policy.OnErrorDeny {
		d.verdict(policy.Deny, "")
	} else {
		nativeClawdAsk(d, lists.First(d.Stderr, "Non-blocking error"))
	}
	return d.r, nil
}

// passes reports whether exit status 1 counts as success.
func (a *output) passes() bool {
	return a.onFailure == policy.PostureUnset || a.onFailure == policy.OnErrorSkip
}

// nativeClawdAsk asks, unless the agent would answer the question itself with
// yes and look at no further hook: then the others are heard.
func nativeClawdAsk(d *draft, reason string) {
	if !d.faithful && clawdYolo(d.in) {
		d.warn("asks in yolo mode, where ClawdCode lets the call through and runs no further hook; they run")
		return
	}
	d.verdict(policy.Ask, reason)
}

// nativeClawdObject is the object an answer consists of: what is under
// hookSpecificOutput where that is anything, else the whole; nil when there is
// none. A text or number in its place is an error of the agent's own code,
// which then forgets the event.
func nativeClawdObject(d *draft, text string) (map[string]any, error) {
	v, err := looseJSON(text)
	if err != nil {
		return nil, nil
	}
	if m, ok := v.(map[string]any); ok && js.True(m["hookSpecificOutput"]) {
		if !d.faithful {
			clawdHidden(d, m, nativeClawdDecide)
		}
		v = m["hookSpecificOutput"]
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case []any:
		return nil, nil
	}
	if !js.True(v) {
		return nil, nil
	}
	if d.faithful {
		d.r.Agent = giveUp
		d.r.EndChain = true
		return nil, nil
	}
	return nil, policy.Failf(policy.ErrParse, "answer is %s, which makes ClawdCode forget every hook of the event", JSONText(v))
}

// nativeClawdDecide reads what an object decides at a call, a permission, an
// ending or a compaction.
func nativeClawdDecide(d *draft, m map[string]any) {
	word := func(key string) string {
		s, _ := m[key].(string)
		return s
	}
	switch d.event {
	case policy.PreToolExecution:
		nativeClawdCall(d, m, word)
	case policy.PermissionRequest:
		switch w := word("decision"); {
		case w == "approve":
			d.verdict(policy.Allow, word("reason"))
		case w == "deny", !d.faithful && forbids(w):
			d.verdict(policy.Deny, word("reason"))
		}
	case policy.StopEvent:
		nativeClawdHold(d, m["continue"], word("reason"))
	case policy.PreAutoCompact:
		nativeClawdHold(d, m["prevent"], word("reason"))
	}
}

// nativeClawdHold holds up an ending or a compaction; the agent has a text of
// its own for the first.
func nativeClawdHold(d *draft, says any, reason string) {
	if !js.True(says) {
		return
	}
	if d.faithful && d.event == policy.StopEvent {
		reason = ""
	}
	d.verdict(policy.Deny, reason)
}

func nativeClawdCall(d *draft, m map[string]any, word func(string) string) {
	_, decided := m["permissionDecision"]
	says, reason := word("permissionDecision"), word("permissionDecisionReason")
	input, _ := m["updatedInput"].(map[string]any)
	switch {
	case !decided && len(input) > 0 && d.agent.ID == "clawdcode@doc":
	case !decided:
		if len(input) > 0 {
			d.warn("ClawdCode passes over updatedInput without permissionDecision")
		}
		return
	case says == "deny":
		d.verdict(policy.Deny, reason)
		return
	case says == "ask":
		nativeClawdAsk(d, reason)
		return
	case !d.faithful && forbids(says):
		d.warn("permissionDecision %q counts as allow in ClawdCode; taken as deny", says)
		d.verdict(policy.Deny, reason)
		return
	case says != "allow":
		d.warn("permissionDecision %q is no word of ClawdCode and counts as allow", says)
	}
	d.patch(policy.Merge(policy.FieldToolInput, input))
}

// nativeClawdResult is an answer after a call: all that is printed is context,
// whatever the status, and an object adds to it.
func nativeClawdResult(d *draft, text string) (policy.Result, error) {
	d.context(text)
	if d.Exit == 1 || d.Exit == 2 {
		return d.r, nil
	}
	m, err := nativeClawdObject(d, text)
	if err != nil {
		return policy.Result{}, err
	}
	more, has := m["additionalContext"]
	if !has {
		return d.r, nil
	}
	if js.True(more) {
		d.context(JSONText(more))
	}
	if v, ok := m["updatedOutput"]; ok {
		d.replace(policy.FieldToolResult, v)
	}
	return d.r, nil
}

// nativeClawdPrompt is an answer to a prompt: what a successful hook prints is
// context as it stands. ClawdCode cannot block a prompt; a script that means
// to is heard all the same.
func nativeClawdPrompt(d *draft, text string) (policy.Result, error) {
	switch {
	case d.Exit == 2:
		nativeClawdBlock(d)
		return d.r, nil
	case d.Exit != 0 && !(d.Exit == 1 && d.passes()):
		return policy.Result{}, d.failure()
	}
	if v, err := looseJSON(text); err == nil && !d.faithful {
		m, _ := v.(map[string]any)
		if word, _ := m["decision"].(string); lists.Has([]string{"block", "deny"}, word) {
			reason, _ := m["reason"].(string)
			d.warn("ClawdCode would hand this answer to the model as text; taken as a refusal")
			d.verdict(policy.Deny, reason)
			return d.r, nil
		}
	}
	d.context(text)
	return d.r, nil
}

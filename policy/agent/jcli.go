package agent

import (
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/repeats"
	"github.com/hookc/hookc/policy/agent/supersede"
)

// jcli is that of LingoJack/j. Its exit status must be 0: any other is a
// failure of the hook, which on_error lets pass by default. `skip` keeps one
// tool call from running, `stop` ends the step; the tool loop passes over a
// `stop`, so a call is refused by `skip` alone.
var jcliAgent, _ = Agent{
	ID: "jcli", Version: "1", Aliases: []string{"j", "jcli@help", "jcli@agent"},
	Doc:      "LingoJack/j: a HookResult on stdout, exit code 0",
	eventKey: "event", eventEnv: "JCLI_HOOK_EVENT",
	env:    []envKey{{"JCLI_CWD", policy.FieldCwd}},
	points: jcliPoints,
	fits: func(_ *Call, f policy.Field, v any) bool {
		return f == policy.FieldToolResult || f.Spec().Type.Holds(v)
	},
	Profile: jcliProfile,
	Files: []File{
		{Tier: policy.TierUser, Base: Home, Path: ".jdata/agent/data/agent_config.json", Format: "jcliconfig"},
		{Tier: policy.TierUser, Base: Home, Path: ".jdata/agent/hooks.yaml", Format: "hooksyaml", Install: Writes, Layout: EventLists},
		{Tier: policy.TierUser, Base: Home, Path: ".jdata/agent/hooks", Format: "jclifolders"},
		{Tier: policy.TierProject, Base: Nearest, Path: ".jcli/hooks.yaml", Format: "hooksyaml", Install: Writes, Layout: EventLists},
		{Tier: policy.TierProject, Base: Nearest, Path: ".jcli/hooks", Format: "jclifolders"},
	},
	protects: []string{".jcli", "~/.jdata/agent"},
	settings: &Settings{
		Handler: Handler{Type: "bash", Command: "command", Timeout: "timeout"},
		Unit:    time.Second, Standard: 10 * time.Second,
		Matchers: exactList,
	},
	join:    "\n\n",
	deliver: deliverJCLI,
	refuseUnknown: func(reason string) Wire {
		return reply{"action": "skip", "system_message": reason}.wire(0, "")
	},
	// Scripts read the context under its own names and answer with a HookResult;
	// status 2 is a failure like any other. jcli's own hooks are sent what jcli
	// sends.
	scripts: scripts{
		canonical: true, shape: jcliShape, read: readJCLI, native: nativeJCLI,
		nativeKeys: jcliKeys, nativeEnv: []envKey{{"JCLI_CWD", policy.FieldCwd}},
	},
}, register(jcliAgent)

var jcliPoints = []point{
	{name: "session_start", event: policy.SessionStart, may: MaySystem},
	{name: "session_end", event: policy.SessionEnd, may: MaySystem},
	{name: "pre_send_message", event: policy.PreSendMessage, may: MayStop | MayRetry | MaySystem, writes: []policy.Field{policy.FieldUserInput}},
	{name: "post_send_message", event: policy.PostSendMessage, may: MaySystem},
	{name: "pre_llm_request", event: policy.PreLLMRequest, may: MayStop | MayRetry | MayContext | MayInject | MaySystem,
		writes: []policy.Field{policy.FieldMessages, policy.FieldSystemPrompt}},
	{name: "post_llm_response", event: policy.PostLLMResponse, may: MayStop | MayRetry | MaySystem, writes: []policy.Field{policy.FieldAssistantOutput}},
	{name: "pre_tool_execution", event: policy.PreToolExecution, may: MayDeny | MaySystem, writes: []policy.Field{policy.FieldToolInput}, shape: &shape{shapeJCLITool, Form{Shape: ShapeTextOrNone, Text: "tool_arguments"}}},
	{name: "post_tool_execution", event: policy.PostToolExecution, may: MaySystem, writes: []policy.Field{policy.FieldToolResult}, shape: &shape{shapeJCLITool, Form{Shape: ShapeTextOrNone, Text: "tool_arguments"}}},
	{name: "post_tool_execution_failure", event: policy.PostToolExecutionFailure, may: MayContext | MaySystem,
		writes: []policy.Field{policy.FieldToolError}, shape: &shape{shapeJCLITool, Form{Shape: ShapeTextOrNone, Text: "tool_arguments"}}},
	{name: "stop", event: policy.StopEvent, may: MayDeny | MayStop | MayContext | MaySystem, shape: &shape{shapeJCLIStop, Form{Ignored: []string{"assistant_output"}}}},
	{name: "pre_micro_compact", event: policy.PreMicroCompact, may: MayStop | MaySystem},
	{name: "post_micro_compact", event: policy.PostMicroCompact, may: MaySystem, writes: []policy.Field{policy.FieldMessages}},
	{name: "pre_auto_compact", event: policy.PreAutoCompact, may: MayStop | MayContext | MaySystem},
	{name: "post_auto_compact", event: policy.PostAutoCompact, may: MaySystem, writes: []policy.Field{policy.FieldMessages}},
}

// shapeJCLITool gives a call without arguments an empty object.
func shapeJCLITool(sent map[string]any) {
	if sent["tool_arguments"] == "" {
		sent["tool_arguments"] = "{}"
	}
}

// shapeJCLIStop names what user_input really carries at the end of a turn:
// the model's last text.
func shapeJCLIStop(sent map[string]any) {
	if _, ok := sent["assistant_output"]; !ok {
		sent["assistant_output"] = sent["user_input"]
	}
}

func deliverJCLI(a *answer) Wire {
	out, system := reply{}, a.system
	if !a.silent || len(system) == 0 {
		system = append([]string{a.reason}, system...)
	}
	if a.point.event == policy.PreToolExecution {
		out.text("retry_feedback", a.feedback)
	}
	switch a.act {
	case deny:
		if a.point.event == policy.StopEvent {
			out["action"], out["retry_feedback"], system = "stop", a.reason, a.system
			break
		}
		out["action"] = "skip"
	case retry:
		out["action"], out["retry_feedback"], system = "stop", a.reason, a.system
	case leave:
		out["action"] = "stop"
	default:
		system = a.system
	}
	out.text("system_message", joinLines(system))
	if a.act.refuses() {
		return out.wire(0, "")
	}
	for f, v := range a.patch {
		switch f {
		case policy.FieldToolInput:
			out["tool_arguments"] = JSONText(v)
		case policy.FieldToolResult:
			out["tool_result"] = JSONText(v)
		default:
			out[f.String()] = v
		}
	}
	if len(a.inject) > 0 {
		out["inject_messages"] = a.inject
	}
	out.text("additional_context", a.contextText())
	return out.wire(0, "")
}

// jcliProfile is how jcli runs the hooks of its hooks.yaml and of its hook
// folders: one after another, user before project, until one stops or skips,
// which takes back what those before it changed (docs/reference/dialects, jcli §1.4,
// §1.6).
var jcliProfile = &Profile{
	Rules: jcliRules,
}

// jcliChain is the time an event's hooks have before no further one begins.
const jcliChain = 30 * time.Second

// jcliRow is what jcli lets a hook change at one of its events; the rest of
// an answer is parsed and dropped.
type jcliRow struct {
	event                     policy.Event
	powers                    policy.Powers
	writes                    []policy.Field
	context, inject, feedback bool
}

var jcliRows = []jcliRow{
	{event: policy.SessionStart},
	{event: policy.SessionEnd},
	{event: policy.PreSendMessage, powers: policy.MayStop, writes: []policy.Field{policy.FieldUserInput}, feedback: true},
	{event: policy.PostSendMessage},
	{event: policy.PreLLMRequest, powers: policy.MayStop, writes: []policy.Field{policy.FieldMessages, policy.FieldSystemPrompt},
		context: true, inject: true, feedback: true},
	{event: policy.PostLLMResponse, powers: policy.MayStop, writes: []policy.Field{policy.FieldAssistantOutput}, feedback: true},
	{event: policy.PreToolExecution, powers: policy.MaySkip, writes: []policy.Field{policy.FieldToolInput}},
	{event: policy.PostToolExecution, writes: []policy.Field{policy.FieldToolResult}},
	// A new text of the error is not shown to the next hook, so it travels as
	// feedback and becomes the error at the end.
	{event: policy.PostToolExecutionFailure, writes: []policy.Field{policy.FieldToolError}, context: true, feedback: true},
	{event: policy.StopEvent, powers: policy.MayStop, context: true, feedback: true},
	{event: policy.PreMicroCompact, powers: policy.MayStop},
	{event: policy.PostMicroCompact, writes: []policy.Field{policy.FieldMessages}},
	{event: policy.PreAutoCompact, powers: policy.MayStop, context: true},
	{event: policy.PostAutoCompact, writes: []policy.Field{policy.FieldMessages}},
}

func jcliRules(faithful bool) policy.Profile {
	out := policy.Profile{Flat: true, ChainTimeout: jcliChain, Strategies: map[policy.Event]*policy.StrategySpec{}}
	for _, row := range jcliRows {
		s := &policy.StrategySpec{Strategy: "jcli", Halt: policy.HaltDeny, Fold: policy.FoldMax,
			Doc: "one after another until one stops or skips, which drops earlier changes",
			Rules: policy.Rules{Supersede: jcliSupersede, Deadline: policy.DeadlineWaits, // what a halting hook took back is gone already:
				Conclude: func(_ *policy.Context, r policy.Result) policy.Result { return r }}}
		if faithful {
			s.Rules.Deadline = policy.DeadlinePasses
		}
		s.Rules.Row = func(e *policy.EventSpec) {
			e.Powers, e.Writes, e.Refused = row.powers, row.writes, nil
			e.Context, e.Inject, e.Feedback = row.context, row.inject, row.feedback
			e.Retry = row.feedback && row.powers != 0
			if !faithful && row.event.Spec().Powers.Has(policy.MayDeny) {
				e.Powers |= policy.MayDeny // a word of hookc's own; jcli knows none
			}
		}
		switch row.event {
		case policy.PostToolExecutionFailure:
			s.Rules.Conclude = jcliFailed
		case policy.StopEvent:
			s.Rules.Conclude = jcliStopped
		case policy.PreToolExecution:
			if faithful {
				s.Rules.Conclude = jcliCalled
			}
		}
		out.Strategies[row.event] = s
	}
	return out
}

// jcliSupersede: a hook that halts takes back what was said before it, and of
// texts the last ones hold.
func jcliSupersede(earlier, later *policy.Result) {
	supersede.RefusalReplaces(earlier, later)
	supersede.LaterText(earlier, later)
	if jcliTakes(later, "additional_context") {
		earlier.Context = nil
	}
	if jcliTakes(later, "system_message") {
		earlier.System = nil
	}
	if jcliTakes(later, "tool_error") {
		earlier.Feedback = nil
	}
}

// jcliFailed makes the last new text of the error the error.
func jcliFailed(_ *policy.Context, r policy.Result) policy.Result {
	if n := len(r.Feedback); n > 0 || jcliTakes(&r, "tool_error") {
		r.Patch = r.Patch.Then(policy.Replace(policy.Path{Field: policy.FieldToolError}, strings.Join(r.Feedback[max(0, n-1):], "")))
		r.Feedback = nil
	}
	return r
}

// jcliStopped: feedback keeps the agent working, whether a hook said stop
// beside it or not.
func jcliStopped(_ *policy.Context, r policy.Result) policy.Result {
	if len(r.Feedback) > 0 && r.Control == policy.Go {
		r.Control = policy.Stop
	}
	return r
}

// jcliCalled: at a tool call jcli obeys `skip` alone, so a hook whose failure
// means abort lets the call through as it was.
func jcliCalled(_ *policy.Context, r policy.Result) policy.Result {
	failed := func(f policy.Failure) bool { return f.Hook == r.ControlBy.Name && f.OnError == policy.OnErrorAbort }
	if r.Control == policy.Skip && slices.ContainsFunc(r.Failed, failed) {
		r.Control, r.ControlBy = policy.Go, policy.By{}
	}
	return r
}

func readJCLI(a output) (policy.Result, error) {
	if a.Exit != 0 {
		return policy.Result{}, a.failure()
	}
	text := strings.TrimSpace(a.Stdout)
	if text == "" {
		return policy.Result{}, nil
	}
	return policy.ParseHookResultText([]byte(text), a.by)
}

// jcliKeys are what jcli itself sends to a hook, by event (docs/reference/dialects, jcli
// §1.1, §1.2). What is unset is left out.
var jcliKeys = []key{
	{field: policy.FieldCwd, name: "cwd"},
	{field: policy.FieldSessionID, name: "session_id"},
	{field: policy.FieldMessages, name: "messages"},
	{field: policy.FieldSystemPrompt, name: "system_prompt", at: []policy.Event{policy.PreLLMRequest, policy.StopEvent, policy.PreAutoCompact}},
	{field: policy.FieldModel, name: "model", at: []policy.Event{policy.PreLLMRequest, policy.PostLLMResponse, policy.StopEvent,
		policy.PreMicroCompact, policy.PreAutoCompact}},
	{field: policy.FieldUserInput, name: "user_input", at: []policy.Event{policy.PreSendMessage, policy.PostSendMessage}},
	// At the end of a turn user_input carries the model's last text.
	{field: policy.FieldAssistantOutput, name: "user_input", at: []policy.Event{policy.StopEvent}},
	{field: policy.FieldAssistantOutput, name: "assistant_output", at: []policy.Event{policy.PostLLMResponse}},
	{field: policy.FieldToolName, name: "tool_name"},
	{field: policy.FieldToolArguments, name: "tool_arguments", at: []policy.Event{policy.PreToolExecution}},
	{field: policy.FieldToolResult, name: "tool_result"},
	{field: policy.FieldToolError, name: "tool_error"},
}

// jcliShape writes values of other agents as the texts they are in jcli.
func jcliShape(out map[string]any) {
	for _, name := range []string{"tool_arguments", "tool_result", "tool_error"} {
		if v, ok := out[name]; ok {
			out[name] = JSONText(v)
		}
	}
}

// jcliWords are the keys of an answer: those that hold texts, those that hold messages,
// action, in older releases abort, and last what is a word of hookc's own.
var (
	jcliWords = []string{"user_input", "assistant_output", "system_prompt", "tool_arguments", "tool_result", "tool_error",
		"retry_feedback", "additional_context", "system_message", "messages", "inject_messages", "action", "abort", "decision"}
	jcliTexts, jcliLists = jcliWords[:9], jcliWords[9:11]
)

// nativeJCLI reads an answer of a hook of jcli's own configuration: any
// status but 0 is a failure, and so is anything but one object whose known
// keys have the right types.
func nativeJCLI(a output) (policy.Result, error) {
	if a.Signal != "" || a.Exit != 0 {
		return policy.Result{}, a.failure()
	}
	text := strings.TrimSpace(a.Stdout)
	if text == "" {
		return policy.Result{}, nil
	}
	v, err := policy.DecodeJSON([]byte(text))
	if err != nil && repeats.Once(text, jcliWords) {
		v, err = looseJSON(text)
	}
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	}
	d := a.draft()
	known := jcliKnown(d, m)
	if len(d.errs) > 0 {
		_, err := d.done()
		return policy.Result{}, err
	}
	broken := jcliBroken(known)
	if broken {
		delete(known, "tool_arguments")
	}
	r, err := policy.ParseHookResult(known, a.by)
	if err != nil {
		return policy.Result{}, err
	}
	r.Warnings = append(d.r.Warnings, r.Warnings...)
	d.r = r
	if broken && r.Control == policy.Go {
		d.warn("tool_arguments is not the text of a JSON object; jcli's tool would refuse it")
		d.r.Control, d.r.ControlBy = policy.Skip, d.by
	}
	jcliForbids(d, m)
	jcliControl(d)
	if a.event == policy.PostToolExecutionFailure {
		jcliError(d, known)
	} else {
		delete(known, "tool_error")
	}
	if d.r.Control == policy.Go && !d.r.EndChain && (known["additional_context"] == "" || known["system_message"] == "" || known["tool_error"] == "") {
		d.r.Agent = []policy.AgentAnswer{{By: d.by, Value: known, Verdict: d.r.Verdict}}
	}
	return d.r, nil
}

// jcliTakes reports whether a hook made a text empty, which takes it back from the
// hooks before.
//
//go:noinline
func jcliTakes(r *policy.Result, text string) bool {
	for i := range r.Agent {
		if r.Agent[i].Value[text] == "" {
			return true
		}
	}
	return false
}

// jcliKnown takes the keys jcli knows and checks their types.
func jcliKnown(d *draft, m map[string]any) map[string]any {
	known := map[string]any{}
	var unknown []string
	for name, v := range m {
		switch {
		case v == nil:
		case lists.Has(jcliTexts, name):
			if _, ok := v.(string); !ok {
				d.fail("%s must be a string", name)
			}
			known[name] = v
		case lists.Has(jcliLists, name):
			if !jcliItems(v, false, "role", "content", "tool_call_id", "reasoning_content", "sender_name") {
				d.fail("%s must be a list of messages", name)
			}
			known[name] = v
		case name == "action":
			if v != "stop" && v != "skip" {
				d.fail("action must be stop or skip")
			}
			known[name] = v
		case name == "abort":
			known[name] = v
		default:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		lists.Sort(unknown)
		d.warn("jcli knows no key %q", unknown)
	}
	return known
}

// jcliItems reports whether a value is a list of objects whose first text, or all
// where they are calls, must be there: messages, or the calls of one.
func jcliItems(v any, calls bool, texts ...string) bool {
	list, ok := v.([]any)
	for _, item := range list {
		m, _ := item.(map[string]any)
		for i, name := range texts {
			if v := m[name]; !policy.StringType.Holds(v) && (v != nil || i == 0 || calls) {
				return false
			}
		}
		if v := m["tool_calls"]; v != nil && !calls && !jcliItems(v, true, "id", "name", "arguments") {
			return false
		}
	}
	return ok
}

// jcliBroken reports whether the new arguments are no JSON object.
func jcliBroken(known map[string]any) bool {
	text, ok := known["tool_arguments"].(string)
	if !ok {
		return false
	}
	v, err := policy.DecodeJSON([]byte(text))
	_, object := v.(map[string]any)
	return err != nil || !object
}

// jcliForbids hears a refusal in hookc's own words, which jcli itself does
// not know.
func jcliForbids(d *draft, m map[string]any) {
	word, _ := m["decision"].(string)
	if d.faithful || !forbids(word) || !d.event.Spec().Powers.Has(policy.MayDeny) {
		return
	}
	reason, _ := m["reason"].(string)
	d.warn("jcli knows no decision %q; taken as deny", word)
	d.verdict(policy.Deny, reason)
}

// jcliStops are the events at which jcli obeys `stop`.
var jcliStops = []policy.Event{policy.PreSendMessage, policy.PreLLMRequest, policy.PostLLMResponse, policy.StopEvent,
	policy.PreMicroCompact, policy.PreAutoCompact}

// jcliControl: a hook that stops or skips says nothing else but feedback and a
// message. Where its agent obeys neither, the chain ends all the same.
func jcliControl(d *draft) {
	control := d.r.Control
	if control == policy.Go {
		return
	}
	d.r = policy.Result{Feedback: d.r.Feedback, System: d.r.System, Warnings: d.r.Warnings,
		Verdict: d.r.Verdict, VerdictBy: d.r.VerdictBy, Reasons: d.r.Reasons}
	switch call := d.event == policy.PreToolExecution; {
	case call && control == policy.Skip:
		d.r.Control, d.r.ControlBy = policy.Skip, d.by
	case call && !d.faithful:
		d.r.Control, d.r.ControlBy = policy.Skip, d.by
		d.warn("jcli runs the tool when a hook stops here; the call is left out")
	case control == policy.Stop && lists.Among(jcliStops, d.event):
		d.r.Control, d.r.ControlBy = policy.Stop, d.by
	default:
		d.r.EndChain = true
		d.warn("jcli obeys no %s at %s; it only ends the hooks of the event", control, d.event)
	}
}

// jcliError lets a new text of the error travel as feedback: no hook reads it.
func jcliError(d *draft, known map[string]any) {
	d.r.Feedback, d.r.Patch = nil, policy.Patch{}
	if text, ok := known["tool_error"].(string); ok && !d.r.EndChain {
		d.r.Feedback = []string{text}
	}
}

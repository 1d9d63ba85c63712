package agent

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/js"
	"github.com/hookc/hookc/policy/pattern"
)

// gemini is that of Gemini CLI. It takes JSON on stdout at any exit status and
// standard error for the answer when stdout is empty, so nothing is written
// there but a reason. An `allow` is never written: before the model it would
// erase another hook's deny.
var geminiAgent, _ = Agent{
	ID: "gemini", Version: "0.61.0", Aliases: []string{"gemini-cli"},
	Doc:      "Gemini CLI: JSON on stdout, a refusal also by exit code 2 and stderr",
	eventKey: "hook_event_name",
	mcp:      mcpNames{"server_name", "tool_name"},
	keys: lists.Concat(
		[]key{
			{name: "prompt", field: policy.FieldUserInput, at: geminiPrompted},
			{name: "prompt_response", field: policy.FieldAssistantOutput, at: []policy.Event{policy.StopEvent}},
			{name: geminiRequest + "model", field: policy.FieldModel, at: geminiModel, use: sent},
			{name: geminiRequest + "messages", field: policy.FieldMessages, at: geminiModel, use: sent},
			{name: geminiRequest + "config", field: policy.FieldRequestConfig, at: geminiModel, use: sent},
			{name: geminiResponse, field: policy.FieldAssistantOutput, at: []policy.Event{policy.PostLLMResponse}, use: sent},
			{name: "mcp_context", field: policy.FieldMCP},
			{name: "tool_response", field: policy.FieldToolResult},
			{name: geminiError, field: policy.FieldToolError},
		},
		same(policy.FieldSessionID, policy.FieldTranscriptPath, policy.FieldCwd, policy.FieldTimestamp,
			policy.FieldToolName, policy.FieldToolInput, policy.FieldMessage),
		sameAt([]policy.Event{policy.StopEvent}, policy.FieldStopHookActive),
		sameAt([]policy.Event{policy.Notify}, policy.FieldNotificationType),
		sameAt([]policy.Event{policy.PreAutoCompact}, policy.FieldTrigger),
		sameAt([]policy.Event{policy.SessionStart}, policy.FieldSource),
		sameAt([]policy.Event{policy.SessionEnd}, policy.FieldReason),
	),
	env: []envKey{
		// Both folders are the working directory, not the project's root.
		{"GEMINI_CWD", policy.FieldCwd}, {"GEMINI_PROJECT_DIR", policy.FieldCwd}, {"GEMINI_SESSION_ID", policy.FieldSessionID},
	},
	points:  geminiPoints,
	Profile: geminiProfile,
	Files: []File{
		{Tier: policy.TierManaged, Base: System, Path: "etc/gemini-cli/system-defaults.json", Install: Looks},
		{Tier: policy.TierUser, Base: Home, Path: ".gemini/settings.json", Env: "GEMINI_CLI_HOME", Install: Writes},
		{Tier: policy.TierProject, Base: Project, Path: ".gemini/settings.json", Install: Writes},
		{Tier: policy.TierManaged, Base: System, Path: "etc/gemini-cli/settings.json", Install: Writes},
		{Tier: policy.TierExtension, Base: Home, Path: ".gemini/extensions", Env: "GEMINI_CLI_HOME", Format: "geminiextensions"},
	},
	protects: []string{".gemini/hooks", ".gemini/extensions", "~/.gemini/hooks", "~/.gemini/trustedFolders.json", "/etc/gemini-cli"},
	settings: &Settings{
		Handler:   Handler{Type: "command", Command: "command", Timeout: "timeout", Name: "name"},
		StartOnly: true,
		Unit:      time.Millisecond, Standard: time.Minute,
		Matchers: searched,
		Reading: Reading{
			Doc: "settings.json of Gemini CLI", Comments: true, References: DefaultReferences, Extension: "gemini-extension.json",
			Own:  []string{"GEMINI_PROJECT_DIR", "GEMINI_PLANS_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR"},
			Gone: []string{"enabled", "disabled", "notifications"}, GoneTo: "hooksConfig",
			Matcher: MatcherReading{Flavour: pattern.ECMAScript, Star: true, Trim: true, Absent: EmptyHolds, Loose: true},
			Hook: HookReading{
				Types: []string{"command", "plugin"}, Typed: true, NotRun: "a hook of type TYPE never runs", NotRunHint: `write "type": "command"`,
				Env: "env", Timeouts: TimeoutsJavaScript,
			},
		},
		Switches: []Switch{{Path: "hooksConfig.enabled"}, {Path: "hooksConfig.disabled", Names: true}},
		Trust:    "Gemini CLI runs hooks of settings files only in a folder it trusts",
	},
	fits:    fitsGemini,
	deliver: deliverGemini,
	refuseUnknown: func(reason string) Wire {
		return reply{"decision": "deny", "reason": reason}.wire(2, reason)
	},
	noticeExit: 1, stderrIsAnswer: true,
	scripts: scripts{
		shape: sendGemini,
		env: []envKey{
			{"GEMINI_PROJECT_DIR", policy.FieldCwd}, {"GEMINI_CWD", policy.FieldCwd}, {"GEMINI_SESSION_ID", policy.FieldSessionID},
			{"CLAUDE_PROJECT_DIR", policy.FieldCwd},
		},
		anyExit: true,
		read:    readGemini,
		shell:   "bash", expand: expandGemini, maxStdout: 64 << 20, maxStderr: 16 << 20, waits: true,
		native: nativeGemini,
	},
}, register(geminiAgent)

const geminiSays = MaySystem | MaySuppress

var geminiPoints = []point{
	{name: "SessionStart", event: policy.SessionStart, may: geminiSays | MayContext,
		at: At{Field: policy.FieldSource, Word: true, Words: []string{"startup", "resume", "clear"}}},
	{name: "SessionEnd", event: policy.SessionEnd, at: At{Field: policy.FieldReason, Word: true, Words: []string{"exit", "clear"}}},
	{name: "BeforeAgent", event: policy.PreSendMessage, may: geminiSays | MayDeny | MayEnd | MayContext},
	{name: "AfterAgent", event: policy.StopEvent, may: geminiSays | MayDeny | MayEnd},
	{name: "BeforeModel", event: policy.PreLLMRequest, may: geminiSays | MayDeny | MayEnd, shape: shapeGemini(policy.PreLLMRequest),
		writes: []policy.Field{policy.FieldModel, policy.FieldMessages, policy.FieldRequestConfig, policy.FieldAssistantOutput}}, // the last beside a refusal
	// Whatever is said here, {} included, sets the offer of tools.
	{name: "BeforeToolSelection", event: policy.ToolSelection, shape: shapeGemini(policy.ToolSelection),
		writes: []policy.Field{policy.FieldToolConfig}, silent: true},
	{name: "AfterModel", event: policy.PostLLMResponse, may: geminiSays | MayDeny | MayEnd, shape: shapeGemini(policy.PostLLMResponse),
		writes: []policy.Field{policy.FieldAssistantOutput}},
	{name: "BeforeTool", event: policy.PreToolExecution, may: geminiSays | MayDeny | MayAsk | MayEnd,
		writes: []policy.Field{policy.FieldToolInput}, askKeepsInput: true},
	{name: "AfterTool", event: policy.PostToolExecutionFailure, may: geminiSays | MayDeny | MayEnd | MayContext,
		when: geminiFailed,
		// No filter sees anything of what the shape makes.
		shape: &shape{shapeGeminiFailure, Form{WhenKey: "tool_response", WhenMember: "error", Ignored: []string{"tool_response.error"}}}},
	{name: "AfterTool", event: policy.PostToolExecution, may: geminiSays | MayDeny | MayEnd | MayContext},
	{name: "Notification", event: policy.Notify},
	{name: "PreCompress", event: policy.PreAutoCompact, at: At{Field: policy.FieldTrigger, Word: true, Words: []string{"auto", "manual"}}},
}

// geminiFailed tells a failed call from one that succeeded.
func geminiFailed(sent map[string]any) bool {
	response, _ := sent["tool_response"].(map[string]any)
	return response["error"] != nil
}

// shapeGeminiFailure makes the message of a failed call's error tool_error.
func shapeGeminiFailure(sent map[string]any) {
	response, _ := sent["tool_response"].(map[string]any)
	failure := response["error"]
	if m, ok := failure.(map[string]any); ok && m["message"] != nil {
		failure = m["message"]
	}
	sent["tool_response.error"] = JSONText(failure)
}

// shapeGemini lifts the parts of the model's request and reply that the event
// has fields for; the others stay in the request, as the agent sent them.
func shapeGemini(event policy.Event) *shape {
	parts := map[string]policy.Field{"model": policy.FieldModel, "messages": policy.FieldMessages, "config": policy.FieldRequestConfig}
	maps.DeleteFunc(parts, func(_ string, f policy.Field) bool { return !event.Spec().CanRead(f) })
	return &shape{func(sent map[string]any) {
		if request, ok := sent["llm_request"].(map[string]any); ok {
			rest := maps.Clone(request)
			for name, f := range parts {
				if v := request[name]; v != nil {
					sent[f.String()] = v
				}
				delete(rest, name)
			}
			delete(sent, "llm_request")
			if len(rest) > 0 {
				sent["llm_request"] = rest
			}
		}
		if response, ok := sent["llm_response"].(map[string]any); ok {
			sent[policy.FieldAssistantOutput.String()] = geminiReply(response)
		}
	}, Form{Shape: ShapeUnknown}}
}

// geminiReply is the text of a reply: its text, else its first candidate's.
func geminiReply(response map[string]any) string {
	if text, ok := geminiCandidate(response); ok {
		return text
	}
	s, _ := response["text"].(string)
	return s
}

// fitsGemini: messages are written over those that were sent, one by one, so
// none can be taken away; of the configuration four numbers can be set.
func fitsGemini(c *Call, f policy.Field, v any) bool {
	old, _ := c.Context.Get(f)
	switch f {
	case policy.FieldMessages:
		before, _ := old.([]any)
		after, ok := v.([]any)
		for _, m := range after {
			message, _ := m.(map[string]any)
			_, role := message["role"].(string)
			_, content := message["content"].(string)
			ok = ok && role && content
		}
		return ok && len(after) >= len(before)
	case policy.FieldRequestConfig:
		before, _ := old.(map[string]any)
		after, ok := v.(map[string]any)
		for k := range after {
			ok = ok && (k == "temperature" || k == "maxOutputTokens" || k == "topP" || k == "topK")
		}
		return ok && keeps(before, after)
	}
	return f.Spec().Type.Holds(v)
}

// keeps reports whether no key is taken away.
func keeps(before, after map[string]any) bool {
	for k := range before {
		if _, ok := after[k]; !ok {
			return false
		}
	}
	return true
}

func deliverGemini(a *answer) Wire {
	out, own := reply{}, reply{}
	system := a.system
	switch a.act {
	case deny:
		out["decision"], out["reason"] = "deny", a.reason
	case ask:
		out["decision"] = "ask"
		out.text("reason", a.reason)
		if a.reason != "" {
			system = append([]string{a.reason}, system...) // what the user is shown
		}
	case end:
		out["continue"], out["stopReason"] = false, a.reason
	}
	out.text("systemMessage", joinLines(system))
	out.flag("suppressOutput", a.suppress)
	own.text("additionalContext", a.contextText())
	if !a.act.refuses() || a.point.event == policy.PreLLMRequest {
		geminiChanges(a.patch, own)
	}
	if len(own) > 0 {
		own["hookEventName"] = a.point.name
	}
	out.under("hookSpecificOutput", own)
	if a.act == deny {
		return out.wire(2, a.reason)
	}
	return out.wire(0, "")
}

func geminiChanges(patch map[policy.Field]any, own reply) {
	request := reply{}
	for f, v := range patch {
		switch f {
		case policy.FieldToolInput:
			own["tool_input"] = v
		case policy.FieldModel:
			request["model"] = v
		case policy.FieldMessages:
			request["messages"] = v
		case policy.FieldRequestConfig:
			request["config"] = v
		case policy.FieldAssistantOutput:
			content := map[string]any{"role": "model", "parts": []any{v}}
			own["llm_response"] = map[string]any{"candidates": []any{map[string]any{"content": content}}}
		case policy.FieldToolConfig:
			offer, _ := v.(map[string]any)
			config := reply{}
			if mode := offer["mode"]; mode != nil {
				config["mode"] = mode
			}
			if names := offer["names"]; names != nil {
				config["allowedFunctionNames"] = names
			}
			own.under("toolConfig", config)
		}
	}
	own.under("llm_request", request)
}

// geminiProfile is how Gemini CLI runs the hooks of its settings (docs/reference/dialects,
// gemini §1.4, §1.6). Its documents rank the files; its code runs them in the
// order in which their lists are joined, and that is what counts. Hooks run at
// once, or one after another when a group that matches says so: the reader of
// the settings lays them out (package source).
var geminiProfile = &Profile{
	Tools: []string{"activate_skill", "ask_user", "cli_help", "codebase_investigator", "complete_task", "enter_plan_mode", "exit_plan_mode",
		"get_internal_docs", "glob", "google_web_search", "grep_search", "invoke_agent", "list_directory", "list_mcp_resources", "read_file",
		"read_many_files", "read_mcp_resource", "replace", "run_shell_command", "save_memory", "search_file_content", "tracker_add_dependency",
		"tracker_create_task", "tracker_get_task", "tracker_list_tasks", "tracker_update_task", "tracker_visualize", "update_topic",
		"web_fetch", "write_file", "write_todos"},
	Open: []string{"mcp_*"}, Called: geminiCalled,
	Rules: func(faithful bool) policy.Profile {
		out := policy.Profile{Flat: true, Strategies: map[policy.Event]*policy.StrategySpec{}}
		for _, p := range geminiPoints {
			out.Strategies[p.event] = forkSpec("gemini", geminiWord(p.event), p.may, geminiConclude(p.event, faithful))
		}
		return out
	},
}

// geminiCalled are the names of tools in other agents, and what they are called in
// Gemini's family.
var geminiCalled = map[string]string{
	"bash": "run_shell_command", "shell": "run_shell_command", "edit": "replace", "multiedit": "replace", "write": "write_file",
	"read": "read_file", "grep": "grep_search", "ls": "list_directory", "webfetch": "web_fetch", "websearch": "google_web_search",
	"todowrite": "write_todos", "task": "invoke_agent",
}

// forkRow narrows an event's row to what an agent of this family obeys there.
// Inputs stay writable where hooks hand them on to each other.
func forkRow(may Power) func(*policy.EventSpec) {
	return func(s *policy.EventSpec) {
		keep := policy.Powers(0)
		for _, p := range []struct {
			theirs Power
			ours   policy.Powers
		}{{MayAllow, policy.MayAllow}, {MayAsk, policy.MayAsk}, {MayDeny, policy.MayDeny}, {MayEnd, policy.MayHalt}} {
			if may.Has(p.theirs) {
				keep |= p.ours
			}
		}
		s.Powers &= keep
		s.Context, s.Inject, s.Feedback, s.Retry = s.Context && may.Has(MayContext), false, false, false
		if s.Event == policy.PostToolExecution || s.Event == policy.PostToolExecutionFailure {
			s.Writes = nil
		}
	}
}

// geminiWord says in a few words how answers combine at an event.
func geminiWord(e policy.Event) string {
	switch e {
	case policy.PreLLMRequest, policy.PostLLMResponse:
		return "of each part the last answer holds"
	case policy.ToolSelection:
		return "offers are joined, NONE before ANY before AUTO"
	case policy.SessionStart:
		return "contexts are joined"
	case policy.SessionEnd, policy.Notify, policy.PreAutoCompact:
		return "nothing is decided"
	}
	return "any deny blocks"
}

// geminiNoReason is what Gemini CLI says for a hook that gives no reason.
const geminiNoReason = "No reason provided"

// geminiConclude is what Gemini CLI makes of its hooks' answers at an event: a
// reading of its own code (docs/reference/dialects, gemini §1.4). What hooks of another
// kind said is joined to it, the more restrictive first.
func geminiConclude(event policy.Event, faithful bool) func(*policy.Context, policy.Result) policy.Result {
	return concludeOwn(func(before *policy.Context, contributions []policy.AgentAnswer) policy.Result {
		g := &geminiMerge{forkMerge{agent: "Gemini CLI", event: event, faithful: faithful, contributions: contributions}, before}
		switch event {
		case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.PreSendMessage, policy.StopEvent, policy.SessionStart:
			g.or()
		case policy.PreLLMRequest, policy.PostLLMResponse:
			g.replace()
		case policy.ToolSelection:
			g.tools()
		default:
			g.simple()
		}
		return g.r
	})
}

// concludeOwn joins what merge makes of the agent's own hooks with what others
// said. Changes that only hooks saw end here.
func concludeOwn(merge func(*policy.Context, []policy.AgentAnswer) policy.Result) func(*policy.Context, policy.Result) policy.Result {
	return func(before *policy.Context, r policy.Result) policy.Result {
		contributions := r.Agent
		r.Agent, r.Patch = nil, r.Patch.Lasting()
		if len(contributions) == 0 {
			return r
		}
		if offer := r.ToolConfig; offer != nil { // it counts among the others
			names := make([]any, len(offer.Names))
			for i, n := range offer.Names {
				names[i] = n
			}
			config := map[string]any{"mode": offer.Mode, "allowedFunctionNames": names}
			contributions = append(slices.Clip(contributions), policy.AgentAnswer{Value: map[string]any{"hookSpecificOutput": map[string]any{"toolConfig": config}}})
			r.ToolConfig = nil
		}
		own := merge(before, contributions)
		if own.Void() {
			return policy.Result{Failed: r.Failed, Warnings: append(lists.Copy(r.Warnings), own.Warnings...)}
		}
		return policy.Join(policy.FoldMax, own, r)
	}
}

// geminiMerge is one merge of answers.
type geminiMerge struct {
	forkMerge
	before *policy.Context
}

// forkMerge is a merge of answers in an agent of Gemini's family.
type forkMerge struct {
	// agent is what messages call it.
	agent         string
	event         policy.Event
	faithful      bool
	contributions []policy.AgentAnswer
	r             policy.Result
}

func (m *forkMerge) warn(by policy.By, format string, args ...any) {
	m.r.Warnings = append(m.r.Warnings, warning(codeSafeSide, by, format, args...))
}

// givesUp reports whether a part of an answer that is not what it must be makes the
// agent give up on the event; one that is followed faithfully does.
func (m *forkMerge) givesUp(by policy.By, what string) bool {
	if m.faithful {
		m.r = policy.Result{Agent: giveUp, Warnings: []policy.Warning{warning(codeSafeSide, by, "%s: %s gives up on the whole event, and so does --faithful", what, m.agent)}}
		return true
	}
	m.warn(by, "%s; %s itself would give up on the whole event, here it costs only itself", what, m.agent)
	return false
}

// sound reports whether every hookSpecificOutput can be read. On one that cannot,
// where the agent looks at it, its code gives up, and what other hooks denied is
// lost with it.
func (m *forkMerge) sound(looks bool) bool {
	for i, s := range m.contributions {
		if !js.NoObject(s.Value["hookSpecificOutput"]) {
			continue
		}
		if looks && m.givesUp(s.By, "hookSpecificOutput is no object") {
			return false
		}
		m.contributions = lists.Copy(m.contributions)
		m.contributions[i].Value = js.Spread(s.Value, nil)
		delete(m.contributions[i].Value, "hookSpecificOutput")
	}
	return true
}

// forkSpec is how the hooks of an event run and combine in an agent of the family.
func forkSpec(id policy.Strategy, word string, may Power, conclude func(*policy.Context, policy.Result) policy.Result) *policy.StrategySpec {
	return &policy.StrategySpec{Strategy: id, Halt: policy.HaltNever, Fold: policy.FoldMax,
		Doc:   "all run, at once unless a group that matches is sequential; " + word,
		Rules: policy.Rules{Row: forkRow(may), Conclude: unlessVoid(conclude)}}
}

// or is mergeWithOrDecision and what its callers do with the outcome.
func (g *geminiMerge) or() {
	if !g.sound(true) {
		return
	}
	var ask policy.By
	for _, s := range g.contributions {
		switch s.Value["decision"] {
		case "deny", "block":
			g.r.Verdict, g.r.VerdictBy = policy.Deny, s.By
		case "ask":
			ask = s.By
		}
		if s.Value["continue"] == false && g.r.Control == policy.Go {
			g.r.Control, g.r.ControlBy = policy.Halt, s.By
		}
		g.r.Suppress = g.r.Suppress || js.True(s.Value["suppressOutput"])
	}
	if g.r.Verdict == policy.None && ask.Name != "" && g.event == policy.PreToolExecution {
		g.r.Verdict, g.r.VerdictBy = policy.Ask, ask
	}
	g.r.Reasons = js.Texts(g.contributions, "reason")
	g.r.System = js.ReasonTexts(js.Texts(g.contributions, "systemMessage"))
	var stops []policy.AgentAnswer
	for _, s := range g.contributions {
		if s.Value["continue"] == false {
			stops = append(stops, s)
		}
	}
	g.settle(js.ReasonTexts(js.Texts(stops, "stopReason")))
	g.effects()
}

// settle gives a refusal the reason Gemini shows: why the run ends, else the
// reasons, else that there is none.
func (g *geminiMerge) settle(stops []string) {
	r := &g.r
	if r.Control == policy.Halt {
		if r.StopReasons = stops; len(stops) == 0 {
			r.StopReasons = js.ReasonTexts(r.Reasons)
		}
		if len(r.StopReasons) == 0 {
			r.StopReasons = []string{geminiNoReason}
		}
	}
	if r.Verdict == policy.Deny && r.Control == policy.Go && len(stops) > 0 {
		r.Reasons = []policy.Reason{{Text: stops[0], Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	if r.Verdict == policy.Deny && len(r.Reasons) == 0 {
		r.Reasons = []policy.Reason{{Text: geminiNoReason, Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	if g.event == policy.SessionStart && (r.Verdict != policy.None || r.Control != policy.Go) {
		by := r.VerdictBy
		if r.Control != policy.Go {
			by = r.ControlBy
		}
		g.warn(by, "SessionStart only informs: Gemini CLI goes on whatever a hook decides")
		r.Verdict, r.VerdictBy, r.Control, r.ControlBy, r.StopReasons, r.Reasons = policy.None, policy.By{}, policy.Go, policy.By{}, nil, nil
	}
}

// effects is what an outcome changes besides the decision. A refusal leaves
// no room for it.
func (g *geminiMerge) effects() {
	if v, by := js.LastOwn(g.contributions, "tailToolCallRequest"); v != nil && g.afterTool() && !g.refused() {
		g.r.Warnings = append(g.r.Warnings, warning(codeUncarried, by, "tailToolCallRequest asks for another call: only Gemini CLI can make it"))
	}
	for _, s := range g.contributions {
		own, _ := js.Has(s.Value["hookSpecificOutput"])
		if own["clearContext"] == true && g.event == policy.StopEvent {
			g.r.Warnings = append(g.r.Warnings, warning(codeUncarried, s.By, "clearContext empties the conversation: only Gemini CLI can do that"))
		}
	}
	if g.refused() {
		return
	}
	switch g.event {
	case policy.PreToolExecution:
		if input, _ := js.LastOwn(g.contributions, "tool_input"); input != nil {
			if m, ok := input.(map[string]any); ok {
				g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldToolInput}, m)
			}
		}
	case policy.SessionStart, policy.PreSendMessage, policy.PostToolExecution, policy.PostToolExecutionFailure:
		g.r.Context = js.Contexts(g.contributions)
	}
}

func (g *geminiMerge) afterTool() bool {
	return g.event == policy.PostToolExecution || g.event == policy.PostToolExecutionFailure
}

func (g *geminiMerge) refused() bool {
	return g.r.Verdict == policy.Deny || g.r.Control != policy.Go
}

// replace is mergeWithFieldReplacement: each key is the last hook's. Before
// the model a deny that a later answer takes back, and an end of the run, hold
// all the same unless the agent is followed faithfully; after it a deny hides
// nothing that was not shown already.
func (g *geminiMerge) replace() {
	word, by := js.LastKey(g.contributions, "decision")
	if word == "deny" || word == "block" {
		g.r.Verdict, g.r.VerdictBy = policy.Deny, by
	}
	if on, by := js.LastKey(g.contributions, "continue"); on == false {
		g.r.Control, g.r.ControlBy = policy.Halt, by
	}
	if v, by := js.LastKey(g.contributions, "reason"); js.True(v) {
		g.r.Reasons = []policy.Reason{{Text: js.Text(v), Hook: by.Name, At: by.At}}
	}
	g.r.System = g.lastText("systemMessage")
	suppress, _ := js.LastKey(g.contributions, "suppressOutput")
	g.r.Suppress = js.True(suppress)
	stops := g.lastText("stopReason")
	stops = g.keep(stops)
	g.settle(stops)
	g.modelEffects()
}

// lastText is the text that counts as true, of the last answer with the key.
func (g *geminiMerge) lastText(key string) []string {
	if v, _ := js.LastKey(g.contributions, key); js.True(v) {
		return []string{js.Text(v)}
	}
	return nil
}

// keep is the safe side of replace: what one hook forbids no other takes back.
// Where that is not so the Decision says it.
func (g *geminiMerge) keep(stops []string) []string {
	safe := g.event == policy.PreLLMRequest && !g.faithful
	for _, s := range g.contributions {
		word := s.Value["decision"]
		denies := g.r.Verdict != policy.Deny && (word == "deny" || word == "block")
		ends := g.r.Control == policy.Go && s.Value["continue"] == false
		switch {
		case !denies && !ends:
			continue
		case !safe:
			g.warn(s.By, "refuses, and a later answer takes that back, as in Gemini CLI")
			continue
		}
		g.warn(s.By, "refuses; Gemini CLI itself would let a later answer take that back")
		if denies {
			g.r.Verdict, g.r.VerdictBy, g.r.Reasons = policy.Deny, s.By, js.Texts([]policy.AgentAnswer{s}, "reason")
		}
		if ends {
			g.r.Control, g.r.ControlBy = policy.Halt, s.By
			stops = js.ReasonTexts(js.Texts([]policy.AgentAnswer{s}, "stopReason"))
		}
	}
	return stops
}

// tools is mergeToolSelectionOutputs. Whatever is said, {} included, sets the
// offer.
func (g *geminiMerge) tools() {
	mode, names := "AUTO", []string{}
	for _, s := range g.contributions {
		own, _ := js.Has(s.Value["hookSpecificOutput"])
		config, _ := own["toolConfig"].(map[string]any)
		switch m := config["mode"]; {
		case m == "NONE":
			mode = "NONE"
		case m == "ANY" && mode != "NONE":
			mode = "ANY"
		}
		listed := config["allowedFunctionNames"]
		switch list := listed.(type) {
		case []any:
			for _, n := range list {
				names = append(names, js.Text(n))
			}
		case string:
			for _, n := range list {
				names = append(names, string(n))
			}
		default:
			if js.True(listed) && g.givesUp(s.By, "allowedFunctionNames is no list") {
				return
			}
		}
	}
	lists.Sort(names)
	offer := []any{}
	for _, n := range lists.Compact(names) {
		offer = append(offer, n)
	}
	if mode == "NONE" {
		offer = []any{}
	}
	g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldToolConfig}, map[string]any{"mode": mode, "names": offer})
}

// simple is mergeSimple: nothing but messages has an effect.
func (g *geminiMerge) simple() {
	g.r.System = g.lastText("systemMessage")
	suppress, _ := js.LastKey(g.contributions, "suppressOutput")
	g.r.Suppress = js.True(suppress)
	for _, s := range g.contributions {
		if s.Verdict == policy.Deny || s.Control != policy.Go {
			g.warn(s.By, "nothing can be refused at this event: Gemini CLI goes on whatever a hook decides")
		}
	}
}

// modelEffects are the changes to the request or the reply. An answer in the
// model's place counts only beside a deny.
func (g *geminiMerge) modelEffects() {
	if g.r.Control != policy.Go {
		return
	}
	response, _ := js.LastOwn(g.contributions, "llm_response")
	reply, _ := response.(map[string]any)
	switch {
	case g.event == policy.PreLLMRequest && g.r.Verdict == policy.Deny:
		if text := geminiReply(reply); text != "" {
			g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldAssistantOutput}, text)
		}
	case g.event == policy.PreLLMRequest:
		request, _ := js.LastOwn(g.contributions, "llm_request")
		if m, ok := request.(map[string]any); ok {
			g.r.Patch = geminiOverride(g.before, m)
		}
	case g.r.Verdict != policy.Deny:
		if candidates, _ := reply["candidates"].([]any); len(candidates) > 0 {
			first, _ := candidates[0].(map[string]any)
			content, _ := first["content"].(map[string]any)
			if parts, _ := content["parts"].([]any); len(parts) > 0 {
				g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldAssistantOutput}, geminiReply(reply))
			}
		}
	}
}

// geminiNumbers are what of a request's configuration a hook can set: all four
// at once.
var geminiNumbers = []string{"maxOutputTokens", "temperature", "topK", "topP"}

// geminiOverride is the change that an llm_request of a hook makes to the
// request: the model, the numbers of its configuration, and the i-th message
// in place of the text of the i-th one that has text; more are added, missing
// ones change nothing.
func geminiOverride(in *policy.Context, request map[string]any) policy.Patch {
	var p policy.Patch
	if model, _ := request["model"].(string); model != "" {
		p = p.Then(policy.Replace(policy.Path{Field: policy.FieldModel}, model))
	}
	if config, ok := request["config"].(map[string]any); ok {
		old, _ := in.Get(policy.FieldRequestConfig)
		before, _ := old.(map[string]any)
		for _, k := range geminiNumbers {
			path := policy.Path{Field: policy.FieldRequestConfig, Keys: []string{k}}
			if v, given := config[k]; given {
				p = p.Then(policy.Replace(path, v))
			} else if _, had := before[k]; had {
				p = p.Then(policy.Remove(path)) // a number that is not named is taken away
			}
		}
	}
	given, _ := request["messages"].([]any)
	if len(given) == 0 {
		return p
	}
	return p.Then(geminiMessages(in, given))
}

// geminiMessages puts the i-th message given in place of the i-th one that has
// text, and adds the rest.
func geminiMessages(in *policy.Context, given []any) policy.Patch {
	base, _ := in.Get(policy.FieldMessages)
	old, _ := base.([]any)
	var out []any
	for _, message := range old {
		m, _ := message.(map[string]any)
		if text, _ := m["content"].(string); text != "" && len(given) > 0 {
			message, given = given[0], given[1:]
		}
		out = append(out, message)
	}
	return policy.Replace(policy.Path{Field: policy.FieldMessages}, append(out, given...))
}

var (
	geminiPrompted = []policy.Event{policy.PreSendMessage, policy.StopEvent}
	geminiModel    = []policy.Event{policy.PreLLMRequest, policy.ToolSelection, policy.PostLLMResponse}
)

// geminiRequest, geminiResponse and geminiError mark values that shape moves
// into the objects of the wire.
const geminiRequest, geminiResponse, geminiError = "llm_request.", "llm_response.", "tool_response.error"

// sendGemini builds the objects of the wire. What the agent sent and hookc
// has no field for is in them already.
func sendGemini(out map[string]any) {
	request := map[string]any{}
	sent, _ := out["llm_request"].(map[string]any)
	maps.Copy(request, sent)
	for _, k := range []string{"model", "messages", "config"} {
		if v, ok := out[geminiRequest+k]; ok {
			request[k] = v
			delete(out, geminiRequest+k)
		}
	}
	if len(request) > 0 {
		out["llm_request"] = request
	}
	if text, ok := out[geminiResponse].(string); ok {
		delete(out, geminiResponse)
		given, _ := out["llm_response"].(map[string]any)
		if whole, found := geminiCandidate(given); !found || whole != text {
			content := map[string]any{"role": "model", "parts": []any{text}}
			out["llm_response"] = map[string]any{"text": text, "candidates": []any{map[string]any{"content": content}}}
		}
	}
	v, failed := out[geminiError]
	delete(out, geminiError)
	response, ok := out["tool_response"]
	m, _ := response.(map[string]any)
	switch {
	case failed && geminiMessage(m["error"]) != v:
		out["tool_response"] = map[string]any{"llmContent": v, "error": map[string]any{"message": v}}
	case ok && m["llmContent"] == nil && m["error"] == nil:
		out["tool_response"] = map[string]any{"llmContent": response}
	}
}

// geminiMessage is the text of a failed call's error.
func geminiMessage(failure any) any {
	if m, ok := failure.(map[string]any); ok && m["message"] != nil {
		failure = m["message"]
	}
	if failure == nil {
		return nil
	}
	return JSONText(failure)
}

// readGemini takes what the script printed, or else what it complained: JSON
// counts whatever the status, text by it. Exit 2 always blocks, as the
// documents say; the program itself lets a silent one pass.
func readGemini(a output) (policy.Result, error) {
	text := strings.Trim(a.Stdout, " \t\r\n\v\f\uFEFF")
	if text == "" {
		text = strings.Trim(a.Stderr, " \t\r\n\v\f\uFEFF")
	}
	d := a.draft()
	v, err := geminiJSON(text)
	if m, ok := v.(map[string]any); ok && err == nil {
		geminiObject(d, m)
		if a.Exit == 2 && d.r.Verdict != policy.Deny {
			reasons := d.r.Reasons
			d.verdict(policy.Deny, "")
			d.r.Reasons, d.r.Patch = reasons, policy.Patch{}
			d.warn("exit status 2 with an answer that does not deny; taken as deny")
		}
		return d.done()
	}
	switch {
	case a.Exit == 2, a.Exit > 2 && text != "" && err != nil:
		d.verdict(policy.Deny, text)
		return d.done()
	case a.Exit != 0:
		return policy.Result{}, a.failure()
	case text != "" && err == nil:
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not a JSON object")
	case strings.HasPrefix(text, "{") && !strings.Contains(text, "\n"):
		return policy.Result{}, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	d.system(text)
	return d.done()
}

// geminiJSON reads JSON, and JSON inside a JSON string.
func geminiJSON(text string) (any, error) {
	v, err := looseJSON(text)
	if s, ok := v.(string); ok && err == nil {
		return looseJSON(s)
	}
	return v, err
}

var geminiWords = words{"allow": policy.Allow, "deny": policy.Deny, "block": policy.Deny}

func geminiObject(d *draft, m map[string]any) {
	o := d.object(m)
	reason, numeric := o.m["reason"].(int)
	text := strconv.Itoa(reason)
	if !numeric {
		text = o.text("reason")
	}
	known := geminiWords
	if d.event == policy.PreToolExecution {
		known = words{"allow": policy.Allow, "ask": policy.Ask, "deny": policy.Deny, "block": policy.Deny}
	}
	d.decide(known, o.text("decision"), text)
	d.universal(o)
	d.system(o.text("systemMessage"))
	own := o.sub("hookSpecificOutput")
	d.context(own.text("additionalContext"))
	switch d.event {
	case policy.PreToolExecution:
		if input := own.sub("tool_input"); input.m != nil {
			d.patch(policy.Merge(policy.FieldToolInput, input.m))
		}
	case policy.PreLLMRequest:
		readGeminiOverride(d, own.sub("llm_request"))
	case policy.PostLLMResponse:
		if text, ok := geminiCandidate(own.sub("llm_response").m); ok {
			d.replace(policy.FieldAssistantOutput, text)
		}
	case policy.ToolSelection:
		geminiTools(d, own.sub("toolConfig"))
	}
}

// readGeminiOverride changes the request: the i-th message replaces the text of
// the i-th one that has text, more are added, missing ones change nothing.
func readGeminiOverride(d *draft, request fields) {
	if model := request.text("model"); model != "" {
		d.replace(policy.FieldModel, model)
	}
	if config := request.sub("config"); config.m != nil {
		d.patch(policy.Merge(policy.FieldRequestConfig, config.m))
	}
	given, _ := take[[]any](request, "messages", "list")
	if len(given) == 0 {
		return
	}
	d.patch(geminiMessages(d.in, given))
}

// geminiCandidate is the text of a reply's first candidate.
func geminiCandidate(response map[string]any) (string, bool) {
	candidates, _ := response["candidates"].([]any)
	if len(candidates) == 0 {
		return "", false
	}
	first, _ := candidates[0].(map[string]any)
	content, _ := first["content"].(map[string]any)
	parts, _ := content["parts"].([]any)
	var text strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case string:
			text.WriteString(p)
		case map[string]any:
			s, _ := p["text"].(string)
			text.WriteString(s)
		}
	}
	return text.String(), len(parts) > 0
}

// geminiTools reads toolConfig; the canonical reader checks the values.
func geminiTools(d *draft, config fields) {
	if config.m == nil {
		return
	}
	canonical := map[string]any{"mode": config.m["mode"], "names": config.m["allowedFunctionNames"]}
	r, err := policy.ParseHookResult(map[string]any{"tool_config": canonical}, d.by)
	if err != nil {
		d.fail("toolConfig: %w", err)
		return
	}
	d.r.ToolConfig = r.ToolConfig
}

// nativeGemini reads an answer as Gemini CLI's runner does and keeps it whole
// for its aggregator (docs/reference/dialects, gemini §1.3). Beyond that, unless it is
// followed faithfully, what plainly forbids is made to forbid.
func nativeGemini(a output) (policy.Result, error) {
	d := a.draft()
	status := a.Exit
	if a.Signal != "" {
		status = 0
		d.warn("ended by signal %s, which Gemini CLI takes for success", a.Signal)
	}
	text := js.Trim(a.Stdout)
	if text == "" {
		text = js.Trim(a.Stderr)
	}
	object, isText := readNative(text, func(text string) map[string]any {
		switch {
		case status == 0:
			return map[string]any{"decision": "allow", "systemMessage": text}
		case status == 1:
			return map[string]any{"decision": "allow", "systemMessage": "Warning: " + text}
		}
		return map[string]any{"decision": "deny", "reason": text}
	})
	if !a.faithful {
		object = d.geminiSafe(object, text, isText)
	}
	if object == nil {
		return d.r, nil
	}
	d.keep(object)
	if a.sequential && a.Exit == 0 && a.Signal == "" {
		d.r.Patch = geminiPipe(a, object)
	}
	if a.sequential && a.faithful && a.Exit == 0 && js.NoObject(object["hookSpecificOutput"]) && geminiPipes(a.event) {
		d.r.Agent = giveUp // its runner gives up there
	}
	return d.r, nil
}

// readNative is the object that a text is, or that plain makes of it; nil for
// nothing that counts. A list has no keys.
func readNative(text string, plain func(string) map[string]any) (object map[string]any, isText bool) {
	if text == "" {
		return nil, false
	}
	v, err := geminiJSON(text)
	if err != nil {
		return plain(text), true
	}
	switch x := v.(type) {
	case map[string]any:
		return x, false
	case []any:
		return map[string]any{}, false
	}
	return nil, false
}

// keep puts an answer in the agent's words into the result.
func (d *draft) keep(object map[string]any) {
	out := policy.AgentAnswer{By: d.by, Value: object}
	switch word := object["decision"]; {
	case word == "deny" || word == "block":
		out.Verdict = policy.Deny
	case word == "ask" && d.event == policy.PreToolExecution:
		out.Verdict = policy.Ask
	case word == "allow" && d.event == policy.PreToolExecution:
		out.Verdict = policy.Allow
	}
	if object["continue"] == false {
		out.Control = policy.Halt
	}
	d.r.Agent = []policy.AgentAnswer{out}
}

// geminiGuards are the events at which Gemini CLI obeys a decision.
func geminiGuards(e policy.Event) bool {
	switch e {
	case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.PreSendMessage,
		policy.StopEvent, policy.PreLLMRequest, policy.PostLLMResponse:
		return true
	}
	return false
}

// geminiSafe is the safe side of an answer: exit status 2 denies, as the
// documents say, and so do a word and a line that plainly forbid.
func (d *draft) geminiSafe(object map[string]any, text string, isText bool) map[string]any {
	if !geminiGuards(d.event) {
		return object
	}
	if line := forbiddingLine(text); isText && line != nil && object["decision"] != "deny" {
		d.warn("a line of its output denies; Gemini CLI itself takes the whole for a message")
		return line
	}
	word, _ := object["decision"].(string)
	denies := word == "deny" || word == "block"
	switch {
	case denies:
		return object
	case forbids(word):
		d.warn("decision %q is not a word of the protocol; taken as deny", word)
	case d.Exit == 2:
		d.warn("exit status 2 with an answer that does not deny; taken as deny")
	default:
		return object
	}
	out := map[string]any{}
	maps.Copy(out, object)
	out["decision"] = "deny"
	return out
}

// forbiddingLine finds, in output that is no JSON, a line that is an object
// which forbids.
func forbiddingLine(text string) map[string]any {
	for line := range strings.Lines(text) {
		line = js.Trim(line)
		if !strings.HasPrefix(line, "{") {
			continue
		}
		v, err := looseJSON(line)
		m, _ := v.(map[string]any)
		word, _ := m["decision"].(string)
		if err == nil && (forbids(word) || m["continue"] == false) {
			if word != "" {
				m["decision"] = "deny"
			}
			return m
		}
	}
	return nil
}

func geminiPipes(e policy.Event) bool {
	return e == policy.PreSendMessage || e == policy.PreToolExecution || e == policy.PreLLMRequest
}

// geminiPipe is what the next hook of a sequential event sees of an answer:
// not the patch the agent gets, but its own mixture.
func geminiPipe(a output, object map[string]any) policy.Patch {
	own, _ := object["hookSpecificOutput"].(map[string]any)
	whole := func(f policy.Field, v any) policy.Patch { return policy.Replace(policy.Path{Field: f}, v).Transient() }
	switch a.event {
	case policy.PreSendMessage:
		if text, ok := own["additionalContext"].(string); ok && a.in.Has(policy.FieldUserInput) {
			return whole(policy.FieldUserInput, a.in.Text(policy.FieldUserInput)+"\n\n"+text)
		}
	case policy.PreToolExecution:
		if input := own["tool_input"]; js.True(input) && a.in.Has(policy.FieldToolInput) {
			old, _ := a.in.Get(policy.FieldToolInput)
			return whole(policy.FieldToolInput, js.Spread(old, input))
		}
	case policy.PreLLMRequest:
		request, _ := own["llm_request"].(map[string]any)
		var p policy.Patch
		for _, k := range []struct {
			name  string
			field policy.Field
		}{{"model", policy.FieldModel}, {"messages", policy.FieldMessages}, {"config", policy.FieldRequestConfig}} {
			if v, ok := request[k.name]; ok {
				p = p.Then(whole(k.field, v))
			}
		}
		return p
	}
	return policy.Patch{}
}

// expandGemini writes the five names into a command's text as Gemini CLI does
// before the shell reads it: wherever they begin, quoted.
func expandGemini(command string, in *policy.Context) string {
	dir := js.ShellQuote(in.Text(policy.FieldCwd))
	return strings.NewReplacer("$GEMINI_PROJECT_DIR", dir, "$GEMINI_CWD", dir,
		"$GEMINI_PLANS_DIR", js.ShellQuote(os.Getenv("GEMINI_PLANS_DIR")),
		"$GEMINI_SESSION_ID", js.ShellQuote(in.Text(policy.FieldSessionID)), "$CLAUDE_PROJECT_DIR", dir).Replace(command)
}

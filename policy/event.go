package policy

import (
	"strings"
	"unicode"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Event is a lifecycle point, by its canonical name (semantics.md §1.1), or
// `ext.Name` for a host's own.
type Event string

// The canonical events.
const (
	SessionStart             Event = "session_start"
	SessionEnd               Event = "session_end"
	PreSendMessage           Event = "pre_send_message"
	PostSendMessage          Event = "post_send_message"
	PreLLMRequest            Event = "pre_llm_request"
	ToolSelection            Event = "tool_selection"
	PostLLMResponse          Event = "post_llm_response"
	PreToolExecution         Event = "pre_tool_execution"
	PermissionRequest        Event = "permission_request"
	PostToolExecution        Event = "post_tool_execution"
	PostToolExecutionFailure Event = "post_tool_execution_failure"
	StopEvent                Event = "stop"
	PostStop                 Event = "post_stop"
	TurnEnd                  Event = "turn_end"
	StopFailure              Event = "stop_failure"
	SubagentStart            Event = "subagent_start"
	SubagentStop             Event = "subagent_stop"
	Notify                   Event = "notify"
	PreMicroCompact          Event = "pre_micro_compact"
	PostMicroCompact         Event = "post_micro_compact"
	PreAutoCompact           Event = "pre_auto_compact"
	PostAutoCompact          Event = "post_auto_compact"
)

// Label names a part of the lifecycle that a control can break out of.
type Label string

// The labels of semantics.md §1.2.
const (
	NoLabel           Label = ""
	LabelSession      Label = "session"
	LabelTurn         Label = "turn"
	LabelLoop         Label = "turn.loop"
	LabelModel        Label = "model"
	LabelTool         Label = "tool"
	LabelBatch        Label = "tool.batch"
	LabelAgent        Label = "agent"
	LabelCompact      Label = "compact"
	LabelCompactMicro Label = "compact.micro"
	LabelCompactAuto  Label = "compact.auto"
)

// EventSpec is one row of the table of events.
type EventSpec struct {
	Event Event
	Class Class
	// Powers are the verdicts and controls the event obeys; all others are
	// masked and reported.
	Powers Powers
	// Retry is true where stop with feedback means "again, with this".
	Retry bool
	// Refused lists the protocols that guard the event although it otherwise
	// only observes: a deny by one of their hooks blocks the step.
	Refused []Protocol
	// Step and Scope are what skip (or a guard's deny) and stop leave.
	Step, Scope Label
	Strategy    Strategy
	// Narrowed is the strategy that reduced the row, "" for the row itself.
	Narrowed Strategy
	// Reads are the fields the event carries besides those every event does;
	// Writes those a hook may change.
	Reads, Writes []Field
	// Context, Inject and Feedback say whether the output-only fields
	// additional_context, inject_messages and retry_feedback are accepted.
	Context, Inject, Feedback bool
	// Aliases are the native names (semantics.md §1.4).
	Aliases []string
}

var (
	toolFields    = []Field{FieldModel, FieldToolName, FieldToolUseID, FieldMCP, FieldToolInput, FieldToolArguments, FieldToolKind, FieldCommand, FieldPath, FieldContent, FieldURL, FieldShell}
	agentFields   = []Field{FieldModel, FieldSubagentName, FieldSubagentType, FieldTaskDescription}
	compactFields = fieldsOf(causeFields, FieldModel, FieldMessages, FieldPreTokens, FieldMessageCount)
	// causeFields say what led to an event; which of them it sends is the
	// host's affair.
	causeFields = []Field{FieldSource, FieldReason, FieldTrigger, FieldErrorType, FieldNotificationType, FieldStopReason, FieldStopHookActive, FieldStepCount}
)

//go:noinline
func fieldsOf(base []Field, more ...Field) []Field { return append(lists.Copy(base), more...) }

const turnControls = MayStop | MayHalt

var eventSpecs = []EventSpec{
	{Event: SessionStart, Class: Observe, Refused: []Protocol{AgentHooksProtocol}, Step: LabelSession, Scope: LabelSession, Strategy: Chain,
		Reads:   fieldsOf(causeFields, FieldModel, FieldMessages),
		Context: true, Inject: true, Aliases: []string{"session-startup", "pre-session"}},
	{Event: SessionEnd, Class: Observe, Strategy: Chain,
		Reads:   fieldsOf(causeFields, FieldModel, FieldMessages, FieldDurationSeconds, FieldTotalSteps, FieldExitReason),
		Aliases: []string{"session-clear", "post-session"}},
	{Event: PreSendMessage, Class: Guard, Powers: MayDeny | turnControls, Retry: true, Step: LabelTurn, Scope: LabelTurn, Strategy: Chain,
		Reads: []Field{FieldModel, FieldUserInput, FieldMessages}, Writes: []Field{FieldUserInput},
		Context: true, Inject: true, Feedback: true, Aliases: []string{"BeforeAgent", "before-agent", "UserPromptSubmit", "pre-agent-turn"}},
	{Event: PostSendMessage, Class: Observe, Strategy: Chain,
		Reads: []Field{FieldModel, FieldUserInput, FieldMessages}},
	{Event: PreLLMRequest, Class: Guard, Powers: MayDeny | turnControls, Retry: true, Step: LabelModel, Scope: LabelLoop, Strategy: Chain,
		Reads:   []Field{FieldModel, FieldMessages, FieldSystemPrompt, FieldRequestConfig},
		Writes:  []Field{FieldModel, FieldMessages, FieldSystemPrompt, FieldRequestConfig},
		Context: true, Inject: true, Feedback: true, Aliases: []string{"BeforeModel", "before-model"}},
	{Event: ToolSelection, Class: Transform, Strategy: Tools,
		Reads:  []Field{FieldModel, FieldRequestConfig, FieldToolConfig},
		Writes: []Field{FieldToolConfig}, Aliases: []string{"BeforeToolSelection", "before-tool-selection"}},
	{Event: PostLLMResponse, Class: Transform, Powers: MayDeny | turnControls, Retry: true, Step: LabelModel, Scope: LabelLoop, Strategy: Chain,
		Reads:    []Field{FieldModel, FieldMessages, FieldAssistantOutput},
		Writes:   []Field{FieldAssistantOutput},
		Feedback: true, Aliases: []string{"AfterModel", "after-model"}},
	{Event: PreToolExecution, Class: Guard, Powers: MayAllow | MayAsk | MayDefer | MayDeny | MaySkip | MayStop | MayHalt, Step: LabelTool, Scope: LabelBatch, Strategy: Chain,
		Reads: toolFields, Writes: []Field{FieldToolInput},
		Context: true, Feedback: true, Aliases: []string{"BeforeTool", "PreToolUse", "pre-tool-call", "allow-tool", "block-tool"}},
	{Event: PermissionRequest, Class: Guard, Powers: MayAllow | MayDeny | MayHalt, Step: LabelTool, Scope: LabelBatch, Strategy: First,
		Reads: toolFields, Writes: []Field{FieldToolInput}},
	{Event: PostToolExecution, Class: Transform, Powers: MayDeny | turnControls, Step: LabelTool, Scope: LabelBatch, Strategy: Chain,
		Reads: fieldsOf(toolFields, FieldToolResult), Writes: []Field{FieldToolResult},
		Context: true, Aliases: []string{"AfterTool", "PostToolUse", "post-tool-call"}},
	{Event: PostToolExecutionFailure, Class: Transform, Powers: MayDeny | MayHalt, Step: LabelTool, Scope: LabelBatch, Strategy: Chain,
		Reads: fieldsOf(toolFields, FieldToolError), Writes: []Field{FieldToolError},
		Context: true, Aliases: []string{"PostToolUseFailure", "post-tool-call-failure"}},
	{Event: StopEvent, Class: Quality, Powers: MayDeny | turnControls, Retry: true, Scope: LabelTurn, Strategy: Chain,
		Reads:   fieldsOf(causeFields, FieldModel, FieldUserInput, FieldMessages, FieldSystemPrompt, FieldAssistantOutput),
		Context: true, Feedback: true, Aliases: []string{"AfterAgent", "pre-agent-turn-stop"}},
	{Event: PostStop, Class: Observe, Strategy: Chain,
		Reads:   []Field{FieldModel, FieldStopReason, FieldStepCount},
		Aliases: []string{"post-agent-turn-stop"}},
	{Event: TurnEnd, Class: Observe, Strategy: Chain,
		Reads:   []Field{FieldModel, FieldDurationSeconds, FieldTotalSteps, FieldExitReason},
		Aliases: []string{"post-agent-turn"}},
	{Event: StopFailure, Class: Observe, Strategy: Chain,
		Reads: fieldsOf(causeFields, FieldModel)},
	{Event: SubagentStart, Class: Guard, Powers: MayDeny | turnControls, Step: LabelAgent, Scope: LabelAgent, Strategy: Chain,
		Reads: agentFields, Context: true, Aliases: []string{"pre-subagent"}},
	{Event: SubagentStop, Class: Quality, Powers: MayDeny | turnControls, Retry: true, Scope: LabelAgent, Strategy: Chain,
		Reads:   lists.Concat(agentFields, causeFields, []Field{FieldAssistantOutput}),
		Context: true, Feedback: true, Aliases: []string{"post-subagent"}},
	{Event: Notify, Class: Observe, Strategy: Chain,
		Reads:   fieldsOf(causeFields, FieldMessage, FieldLevel, FieldTitle),
		Aliases: []string{"Notification", "notification"}},
	{Event: PreMicroCompact, Class: Guard, Powers: MayDeny | MayStop, Step: LabelCompactMicro, Scope: LabelCompact, Strategy: Chain,
		Reads: compactFields},
	{Event: PostMicroCompact, Class: Transform, Step: LabelCompactMicro, Scope: LabelCompact, Strategy: Chain,
		Reads: compactFields, Writes: []Field{FieldMessages}},
	{Event: PreAutoCompact, Class: Guard, Powers: MayDeny | MayStop, Step: LabelCompactAuto, Scope: LabelCompactAuto, Strategy: Chain,
		Reads: fieldsOf(compactFields, FieldSystemPrompt), Context: true,
		Aliases: []string{"PreCompress", "Compaction", "PreCompact", "pre-context-compact"}},
	{Event: PostAutoCompact, Class: Transform, Step: LabelCompactAuto, Scope: LabelCompactAuto, Strategy: Chain,
		Reads: compactFields, Writes: []Field{FieldMessages},
		Aliases: []string{"PostCompact", "post-context-compact"}},
}

const extPrefix = "ext."

var eventIndex, eventByName = func() (map[Event]int, map[string]Event) {
	index, names := map[Event]int{}, map[string]Event{}
	add := func(name string, e Event) {
		if old, dup := names[name]; dup && old != e {
			panic("policy: event name " + name + " means two events")
		}
		names[name] = e
	}
	for i, s := range eventSpecs {
		index[s.Event] = i
		add(string(s.Event), s.Event)
		add(camel(string(s.Event)), s.Event)
		for _, a := range s.Aliases {
			add(a, s.Event)
		}
	}
	return index, names
}()

// eventByKebab are the events by names that are only in kebab-case what another is.
var eventByKebab = lazy.Value(func() map[string]Event {
	names := map[string]Event{}
	for name, e := range eventByName {
		names[strings.ReplaceAll(kebab(name), "_", "-")] = e
	}
	return names
})

// kebab is the form in which Gemini CLI's documents also write event names:
// BeforeModel is before-model.
func kebab(s string) string {
	var b strings.Builder
	for i, c := range s {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// camel is the form in which jcli's documents also write event names:
// pre_llm_request is PreLlmRequest.
func camel(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// Events lists the canonical events in lifecycle order.
//
//go:noinline
func Events() []Event {
	out := make([]Event, len(eventSpecs))
	for i, s := range eventSpecs {
		out[i] = s.Event
	}
	return out
}

// EventNames lists every accepted name of an event, sorted.
func EventNames() []string {
	out := make([]string, 0, len(eventByName))
	for n := range eventByName {
		out = append(out, n)
	}
	lists.Sort(out)
	return out
}

// ParseEvent finds an event by its canonical name or one of the native names of
// semantics.md §1.4, in CamelCase or kebab-case too, or as ext.Name.
func ParseEvent(name string) (Event, bool) {
	if e, ok := eventByName[name]; ok {
		return e, true
	}
	if rest, ok := spell.CutPrefix(name, extPrefix); ok && rest != "" {
		return Event(name), true
	}
	e, ok := eventByKebab()[name]
	return e, ok
}

// Spec is the event's row. An ext event observes and reads every field.
func (e Event) Spec() *EventSpec {
	if i, ok := eventIndex[e]; ok {
		return &eventSpecs[i]
	}
	return &EventSpec{Event: e, Class: Observe, Strategy: Chain, Reads: Fields()}
}

// Compare orders events by lifecycle, ext events last and by name.
func (e Event) Compare(o Event) int {
	i, known := eventIndex[e]
	j, other := eventIndex[o]
	switch {
	case known && other:
		return i - j
	case known:
		return -1
	case other:
		return 1
	}
	return strings.Compare(string(e), string(o))
}

// Title is the event, and the strategy that makes it obey less.
func (s *EventSpec) Title() string {
	if s.Narrowed == "" {
		return string(s.Event)
	}
	return string(s.Event) + " under strategy " + string(s.Narrowed)
}

// CanRead reports whether the event may carry field f.
func (s *EventSpec) CanRead(f Field) bool {
	return f.Spec().Everywhere || lists.Among(s.Reads, f)
}

// CanWrite reports whether a hook may change field f at the event.
func (s *EventSpec) CanWrite(f Field) bool { return lists.Among(s.Writes, f) }

// Readable is every field the event may carry, as a set.
func (s *EventSpec) Readable() Paths {
	var out []Path
	for f := range numFields {
		if s.CanRead(f) && !f.Derived() {
			out = append(out, Path{Field: f})
		}
	}
	return NewPaths(out...)
}

// Writable is every field a hook may change, as a set.
func (s *EventSpec) Writable() Paths { return FieldPaths(s.Writes...) }

// AskOrDeny is ask where the event obeys it, else deny.
func (s *EventSpec) AskOrDeny() Verdict {
	if s.Powers.Has(MayAsk) {
		return Ask
	}
	return Deny
}

// Guarded reports whether a failure to decide must not let the action
// through: the event guards an action or an ending.
func (s *EventSpec) Guarded() bool { return s.Class == Guard || s.Class == Quality }

package policy

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Field is the number of a field of the vocabulary (semantics.md §1.3). The
// zero Field is FieldEvent.
type Field uint8

// The fields. One flat vocabulary is used by stdin JSON, templates, filters,
// effects, expr identifiers and Rego's input.
const (
	FieldEvent Field = iota
	FieldSessionID
	FieldCwd
	FieldProjectRoot
	FieldTimestamp
	FieldTranscriptPath
	FieldPermissionMode
	FieldAgentID
	FieldAgentType
	FieldHookExecutionID
	FieldModel
	FieldSource
	FieldReason
	FieldTrigger
	FieldErrorType
	FieldNotificationType
	FieldStopReason
	FieldStopHookActive
	FieldStepCount
	FieldUserInput
	FieldMessages
	FieldSystemPrompt
	FieldRequestConfig
	FieldToolConfig
	FieldAssistantOutput
	FieldToolName
	FieldToolUseID
	FieldMCP
	FieldToolInput
	FieldToolResult
	FieldToolError
	FieldSubagentName
	FieldSubagentType
	FieldTaskDescription
	FieldPreTokens
	FieldMessageCount
	FieldMessage
	FieldLevel
	FieldTitle
	FieldDurationSeconds
	FieldTotalSteps
	FieldExitReason
	FieldRaw
	FieldFacts

	// Derived fields: computed from others, never sent.
	FieldToolArguments
	FieldToolKind
	FieldCommand
	FieldPath
	FieldContent
	FieldURL
	FieldShell

	numFields
)

// FieldType is the JSON type a field's value must have.
type FieldType uint8

// The types. AnyType takes every JSON value.
const (
	AnyType FieldType = iota
	StringType
	NumberType
	BoolType
	ObjectType
	ListType
)

func (t FieldType) String() string {
	return [...]string{"any", "string", "number", "boolean", "object", "list"}[t]
}

// FieldSpec is one row of the vocabulary.
type FieldSpec struct {
	Name string
	Type FieldType
	// Everywhere is true when every event may carry the field; otherwise
	// the events that do name it in EventSpec.Reads.
	Everywhere bool
	// Always is true for what a hook sees whatever it declares: the event, the
	// ids and where it happens (semantics.md §2.7).
	Always bool
	// From names the inputs of a derived field; reading it counts as reading
	// them.
	From []Field
	// Doc says in a few words what the field holds.
	Doc string
}

var fieldSpecs = [numFields]FieldSpec{
	FieldEvent:            {Name: "event", Type: StringType, Everywhere: true, Always: true, Doc: "canonical name of the event"},
	FieldSessionID:        {Name: "session_id", Type: StringType, Everywhere: true, Always: true, Doc: "the agent's session"},
	FieldCwd:              {Name: "cwd", Type: StringType, Everywhere: true, Always: true, Doc: "working directory of the event"},
	FieldProjectRoot:      {Name: "project_root", Type: StringType, Everywhere: true, Always: true, Doc: "nearest ancestor of cwd that holds .git or .hookc, else cwd"},
	FieldTimestamp:        {Name: "timestamp", Type: StringType, Everywhere: true, Doc: "when the agent fired the event"},
	FieldTranscriptPath:   {Name: "transcript_path", Type: StringType, Everywhere: true, Doc: "file holding the conversation"},
	FieldPermissionMode:   {Name: "permission_mode", Type: StringType, Everywhere: true, Doc: "the agent's permission mode"},
	FieldAgentID:          {Name: "agent_id", Type: StringType, Everywhere: true, Always: true, Doc: "id of the (sub)agent"},
	FieldAgentType:        {Name: "agent_type", Type: StringType, Everywhere: true, Doc: "type of the (sub)agent"},
	FieldHookExecutionID:  {Name: "hook_execution_id", Type: StringType, Everywhere: true, Always: true, Doc: "id of this firing"},
	FieldModel:            {Name: "model", Type: StringType, Doc: "name of the model in use"},
	FieldSource:           {Name: "source", Type: StringType, Doc: "what started the session or compaction"},
	FieldReason:           {Name: "reason", Type: StringType, Doc: "why the session ended"},
	FieldTrigger:          {Name: "trigger", Type: StringType, Doc: "what triggered a compaction"},
	FieldErrorType:        {Name: "error_type", Type: StringType, Doc: "kind of model failure"},
	FieldNotificationType: {Name: "notification_type", Type: StringType, Doc: "kind of notification"},
	FieldStopReason:       {Name: "stop_reason", Type: StringType, Doc: "why the turn is ending"},
	FieldStopHookActive:   {Name: "stop_hook_active", Type: BoolType, Doc: "a gate already kept this turn going"},
	FieldStepCount:        {Name: "step_count", Type: NumberType, Doc: "model steps in this turn"},
	FieldUserInput:        {Name: "user_input", Type: StringType, Doc: "what the user typed"},
	FieldMessages:         {Name: "messages", Type: ListType, Doc: "the conversation"},
	FieldSystemPrompt:     {Name: "system_prompt", Type: StringType, Doc: "the system prompt"},
	FieldRequestConfig:    {Name: "request_config", Type: ObjectType, Doc: "parameters of the model request"},
	FieldToolConfig:       {Name: "tool_config", Type: ObjectType, Doc: "mode (AUTO, ANY, NONE) and names of the tools offered"},
	FieldAssistantOutput:  {Name: "assistant_output", Type: StringType, Doc: "the model's reply"},
	FieldToolName:         {Name: "tool_name", Type: StringType, Doc: "the agent's own name of the tool"},
	FieldToolUseID:        {Name: "tool_use_id", Type: StringType, Always: true, Doc: "id of this call"},
	FieldMCP:              {Name: "mcp", Type: ObjectType, Doc: "server and tool of an MCP call"},
	FieldToolInput:        {Name: "tool_input", Type: ObjectType, Doc: "the call's arguments"},
	FieldToolResult:       {Name: "tool_result", Type: AnyType, Doc: "what the tool returned"},
	FieldToolError:        {Name: "tool_error", Type: StringType, Doc: "why the tool failed"},
	FieldSubagentName:     {Name: "subagent_name", Type: StringType, Doc: "name of the subagent"},
	FieldSubagentType:     {Name: "subagent_type", Type: StringType, Doc: "type of the subagent"},
	FieldTaskDescription:  {Name: "task_description", Type: StringType, Doc: "what the subagent is asked"},
	FieldPreTokens:        {Name: "pre_tokens", Type: NumberType, Doc: "tokens before compaction"},
	FieldMessageCount:     {Name: "message_count", Type: NumberType, Doc: "messages before compaction"},
	FieldMessage:          {Name: "message", Type: StringType, Doc: "text of the notification"},
	FieldLevel:            {Name: "level", Type: StringType, Doc: "level of the notification"},
	FieldTitle:            {Name: "title", Type: StringType, Doc: "title of the notification"},
	FieldDurationSeconds:  {Name: "duration_seconds", Type: NumberType, Doc: "how long it took"},
	FieldTotalSteps:       {Name: "total_steps", Type: NumberType, Doc: "model steps in all"},
	FieldExitReason:       {Name: "exit_reason", Type: StringType, Doc: "why it ended"},
	FieldRaw:              {Name: "raw", Type: ObjectType, Everywhere: true, Doc: "what the agent sent that has no name here"},
	FieldFacts:            {Name: "facts", Type: ObjectType, Everywhere: true, Doc: "what is declared under facts: who calls, and where"},

	FieldToolArguments: {Name: "tool_arguments", Type: StringType, From: []Field{FieldToolInput}, Doc: "tool_input as JSON text"},
	FieldToolKind:      {Name: "tool_kind", Type: StringType, From: []Field{FieldToolName}, Doc: "shell, read, write, edit, search, fetch, agent, mcp or other"},
	FieldCommand:       {Name: "command", Type: StringType, From: []Field{FieldToolName, FieldToolInput}, Doc: "the command line of a shell call"},
	FieldPath:          {Name: "path", Type: StringType, From: []Field{FieldToolName, FieldToolInput}, Doc: "the file a call is about"},
	FieldContent:       {Name: "content", Type: StringType, From: []Field{FieldToolName, FieldToolInput}, Doc: "the text a call writes"},
	FieldURL:           {Name: "url", Type: StringType, From: []Field{FieldToolName, FieldToolInput}, Doc: "the address a call fetches"},
	FieldShell:         {Name: "shell", Type: ObjectType, From: []Field{FieldToolName, FieldToolInput, FieldCwd, FieldProjectRoot}, Doc: "what the command line of a shell call would do: commands, effects, dynamic"},
}

var fieldByName = func() map[string]Field {
	m := make(map[string]Field, numFields)
	for f := range numFields {
		if fieldSpecs[f].Name == "" || m[fieldSpecs[f].Name] != 0 {
			panic(fmt.Sprintf("policy: field %d is incomplete or defined twice", f))
		}
		if f.Derived() != (len(fieldSpecs[f].From) > 0) {
			panic(fmt.Sprintf("policy: field %d is not among its like", f)) // the derived ones are last
		}
		m[fieldSpecs[f].Name] = f
	}
	return m
}()

// hostAliases are other names under which hosts send a field.
var hostAliases = map[string]Field{
	"prompt": FieldUserInput, "prompt_content": FieldUserInput,
	"tool_response": FieldToolResult, "tool_output": FieldToolResult,
	"error":    FieldToolError,
	"work_dir": FieldCwd, "project_dir": FieldCwd,
	"hook_event_name": FieldEvent, "event_type": FieldEvent,
	"prompt_response": FieldAssistantOutput, "last_assistant_message": FieldAssistantOutput,
}

// Spec is the field's row of the vocabulary.
func (f Field) Spec() *FieldSpec { return &fieldSpecs[f] }

//go:noinline
func (f Field) String() string { return fieldSpecs[f].Name }

// Derived reports whether the field is computed rather than sent.
func (f Field) Derived() bool { return f >= FieldToolArguments }

// ParseField finds a field by its canonical name.
func ParseField(name string) (Field, bool) {
	f, ok := fieldByName[name]
	return f, ok
}

// Fields lists every field in the order of the vocabulary.
//
//go:noinline
func Fields() []Field {
	out := make([]Field, numFields)
	for f := range out {
		out[f] = Field(f)
	}
	return out
}

// FieldNames lists the names of every field a hook can read.
func FieldNames() []string {
	out := make([]string, 0, numFields)
	for f := range numFields {
		out = append(out, fieldSpecs[f].Name)
	}
	return out
}

// Path is a field, or a part of one: keys lead into nested objects. The text
// form joins them with dots; a key that itself holds a dot cannot be written,
// and a path that would need one ends before it.
type Path struct {
	Field Field
	Keys  []string
}

// ParsePath reads a path such as tool_input.command. `tool_arguments` is
// another view of tool_input and becomes it.
func ParsePath(text string) (Path, error) {
	name, rest, nested := spell.Cut(text, ".")
	f, ok := fieldByName[name]
	if !ok {
		return Path{}, fault.Errorf("no field is called %q", name)
	}
	if f == FieldToolArguments {
		f = FieldToolInput
	}
	p := Path{Field: f}
	if nested {
		p.Keys = strings.Split(rest, ".")
		if lists.Has(p.Keys, "") {
			return Path{}, fault.Errorf("%q has an empty part", text)
		}
	}
	return p, nil
}

func (p Path) String() string {
	if len(p.Keys) == 0 {
		return p.Field.String()
	}
	return p.Field.String() + "." + strings.Join(p.Keys, ".")
}

// Covers reports whether q is p or lies inside it.
func (p Path) Covers(q Path) bool {
	return p.Field == q.Field && len(p.Keys) <= len(q.Keys) && lists.Equal(p.Keys, q.Keys[:len(p.Keys)])
}

// Overlaps reports whether one of the two paths covers the other.
func (p Path) Overlaps(q Path) bool { return p.Covers(q) || q.Covers(p) }

func (p Path) compare(q Path) int {
	if p.Field != q.Field {
		return int(p.Field) - int(q.Field)
	}
	return slices.Compare(p.Keys, q.Keys)
}

// Paths is a set of paths: sorted, without one that another covers. The zero
// value is empty. Paths are values; operations return new ones.
type Paths struct{ list []Path }

// NewPaths makes a set. Reading a derived field counts as reading its inputs,
// which are added beside it.
func NewPaths(paths ...Path) Paths {
	all := lists.Copy(paths)
	for _, p := range paths {
		for _, from := range p.Field.Spec().From {
			all = append(all, Path{Field: from})
		}
	}
	return ExactPaths(all...)
}

// ExactPaths is the set of nothing but these paths: what a hook may see, where
// NewPaths is what its answer depends on.
func ExactPaths(paths ...Path) Paths {
	all := lists.Copy(paths)
	sort.Slice(all, func(i, j int) bool { return all[i].compare(all[j]) < 0 })
	var out []Path
	for _, p := range all {
		if n := len(out); n > 0 && out[n-1].Covers(p) {
			continue
		}
		out = append(out, p)
	}
	return Paths{out}
}

// FieldPaths is the set of whole fields.
func FieldPaths(fields ...Field) Paths {
	paths := make([]Path, len(fields))
	for i, f := range fields {
		paths[i] = Path{Field: f}
	}
	return NewPaths(paths...)
}

// All lists the members in order. The slice must not be changed.
func (s Paths) All() []Path { return s.list }

// Empty reports whether the set has no members.
func (s Paths) Empty() bool { return len(s.list) == 0 }

// Union is the set of members of either.
func (s Paths) Union(t Paths) Paths { return NewPaths(append(lists.Copy(s.list), t.list...)...) }

// Covers reports whether some member covers p.
func (s Paths) Covers(p Path) bool {
	return slices.ContainsFunc(s.list, func(m Path) bool { return m.Covers(p) })
}

// Overlap returns the members of t that overlap a member of s, in order.
func (s Paths) Overlap(t Paths) Paths {
	var out []Path
	for _, q := range t.list {
		if slices.ContainsFunc(s.list, q.Overlaps) {
			out = append(out, q)
		}
	}
	return Paths{out}
}

// Overlaps reports whether a member of s overlaps a member of t.
func (s Paths) Overlaps(t Paths) bool { return !s.Overlap(t).Empty() }

// Within returns the members of s that t covers, and the parts of the others
// that lie inside a member of t.
func (s Paths) Within(t Paths) Paths {
	var out []Path
	for _, p := range s.list {
		if t.Covers(p) {
			out = append(out, p)
			continue
		}
		for _, q := range t.list {
			if p.Covers(q) {
				out = append(out, q)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].compare(out[j]) < 0 })
	return Paths{out}
}

// Equal reports whether both sets have the same members.
func (s Paths) Equal(t Paths) bool {
	return slices.EqualFunc(s.list, t.list, func(p, q Path) bool { return p.compare(q) == 0 })
}

// Names lists the members as text, in order.
func (s Paths) Names() []string {
	out := make([]string, len(s.list))
	for i, p := range s.list {
		out[i] = p.String()
	}
	return out
}

func (s Paths) String() string { return strings.Join(s.Names(), ", ") }

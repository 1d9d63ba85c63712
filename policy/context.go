package policy

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"
)

// Context is what a hook may read when an event fires: the fields of
// semantics.md §1.3. A host fills in the exported fields it knows, or decodes
// JSON with DecodeContext; the engine reads a Context only through Get, Has
// and Fields and changes it only through With, which makes a new one. A zero
// exported field is an absent one; Set gives a field an explicitly empty
// value. Values are JSON values: nil, bool, string, a number, []any,
// map[string]any; none may be changed once the Context is in use. A Context
// in use is immutable and safe for concurrent reading.
type Context struct {
	Event           Event
	SessionID       string
	Cwd             string
	ProjectRoot     string
	Timestamp       string
	TranscriptPath  string
	PermissionMode  string
	AgentID         string
	AgentType       string
	HookExecutionID string

	Model            string
	Source           string
	Reason           string
	Trigger          string
	ErrorType        string
	NotificationType string
	StopReason       string
	StopHookActive   bool
	StepCount        int

	UserInput       string
	Messages        []any
	SystemPrompt    string
	RequestConfig   map[string]any
	ToolConfig      map[string]any
	AssistantOutput string

	ToolName  string
	ToolUseID string
	MCP       map[string]any
	ToolInput map[string]any
	// ToolResult is any JSON value.
	ToolResult any
	ToolError  string

	SubagentName    string
	SubagentType    string
	TaskDescription string

	PreTokens       int
	MessageCount    int
	Message         string
	Level           string
	Title           string
	DurationSeconds float64
	TotalSteps      int
	ExitReason      string

	// Raw holds what the host sent that has no name here.
	Raw map[string]any

	slots *slots
}

// slots is the one form in which fields are stored once a Context is in use.
type slots struct {
	values [numFields]any
	has    [numFields]bool
	mu     sync.Mutex
	done   [numFields]bool // derived fields already computed
	// frozen is one more than the event that Frozen has made it ready for.
	frozen atomic.Uint32

	memoMu sync.Mutex
	memo   map[Field]any // what Memo computed
}

// NewContext returns an empty Context for an event, to be filled with Set.
func NewContext(e Event) *Context {
	c := &Context{slots: new(slots)}
	c.put(FieldEvent, string(e))
	return c
}

// Frozen returns c ready for use: its exported fields are read once, the event
// and the project root are filled in, and a field that the event does not
// carry is not present (semantics.md §1.3). Later changes to the exported
// fields have no effect on the result.
func (c *Context) Frozen(e Event) *Context {
	i, known := eventIndex[e]
	if !known {
		return c.Whole(e).carried(e)
	}
	mark := uint32(i) + 1
	if c != nil && c.slots != nil && c.slots.frozen.Load() == mark {
		return c
	}
	out := c.Whole(e).carried(e)
	out.slots.frozen.Store(mark)
	return out
}

// Whole is Frozen with the fields that the event does not carry, for what
// goes on to other events.
func (c *Context) Whole(e Event) *Context {
	if c == nil {
		c = &Context{}
	}
	out, own := c, false // own: nobody else holds out yet
	change := func(f Field, value any) {
		if !own {
			out, own = out.clone(), true
		}
		out.put(f, value)
	}
	if c.slots == nil {
		out, own = &Context{slots: new(slots)}, true
		c.export(out)
	}
	if v, ok := out.Get(FieldEvent); !ok || v != string(e) {
		change(FieldEvent, string(e))
	}
	if !out.Has(FieldProjectRoot) {
		if cwd := out.Text(FieldCwd); cwd != "" {
			change(FieldProjectRoot, ProjectRoot(cwd))
		}
	}
	return out
}

// freeze makes c, which nobody else holds and which has its slots, what
// Frozen returns.
func (c *Context) freeze(e Event) {
	c.put(FieldEvent, string(e))
	if !c.slots.has[FieldProjectRoot] {
		if cwd := c.Text(FieldCwd); cwd != "" {
			c.put(FieldProjectRoot, ProjectRoot(cwd))
		}
	}
	for _, f := range c.beyond(e) {
		c.put(f, nil)
	}
	if i, known := eventIndex[e]; known {
		c.slots.frozen.Store(uint32(i) + 1)
	}
}

// export moves the exported fields of c into the slots of out.
func (c *Context) export(out *Context) {
	text := func(f Field, s string) {
		if s != "" {
			out.put(f, s)
		}
	}
	number := func(f Field, n int) {
		if n != 0 {
			out.put(f, n)
		}
	}
	object := func(f Field, m map[string]any) {
		if m != nil {
			out.put(f, m)
		}
	}
	text(FieldEvent, string(c.Event))
	text(FieldSessionID, c.SessionID)
	text(FieldCwd, c.Cwd)
	text(FieldProjectRoot, c.ProjectRoot)
	text(FieldTimestamp, c.Timestamp)
	text(FieldTranscriptPath, c.TranscriptPath)
	text(FieldPermissionMode, c.PermissionMode)
	text(FieldAgentID, c.AgentID)
	text(FieldAgentType, c.AgentType)
	text(FieldHookExecutionID, c.HookExecutionID)
	text(FieldModel, c.Model)
	text(FieldSource, c.Source)
	text(FieldReason, c.Reason)
	text(FieldTrigger, c.Trigger)
	text(FieldErrorType, c.ErrorType)
	text(FieldNotificationType, c.NotificationType)
	text(FieldStopReason, c.StopReason)
	if c.StopHookActive {
		out.put(FieldStopHookActive, true)
	}
	number(FieldStepCount, c.StepCount)
	text(FieldUserInput, c.UserInput)
	if c.Messages != nil {
		out.put(FieldMessages, c.Messages)
	}
	text(FieldSystemPrompt, c.SystemPrompt)
	object(FieldRequestConfig, c.RequestConfig)
	object(FieldToolConfig, c.ToolConfig)
	text(FieldAssistantOutput, c.AssistantOutput)
	text(FieldToolName, c.ToolName)
	text(FieldToolUseID, c.ToolUseID)
	object(FieldMCP, c.MCP)
	object(FieldToolInput, c.ToolInput)
	if c.ToolResult != nil {
		out.put(FieldToolResult, c.ToolResult)
	}
	text(FieldToolError, c.ToolError)
	text(FieldSubagentName, c.SubagentName)
	text(FieldSubagentType, c.SubagentType)
	text(FieldTaskDescription, c.TaskDescription)
	number(FieldPreTokens, c.PreTokens)
	number(FieldMessageCount, c.MessageCount)
	text(FieldMessage, c.Message)
	text(FieldLevel, c.Level)
	text(FieldTitle, c.Title)
	if c.DurationSeconds != 0 {
		out.put(FieldDurationSeconds, c.DurationSeconds)
	}
	number(FieldTotalSteps, c.TotalSteps)
	text(FieldExitReason, c.ExitReason)
	object(FieldRaw, c.Raw)
}

// Set gives a field a value, empty ones included, and returns c. It is for
// filling in a Context before it is used; a nil value makes the field absent.
func (c *Context) Set(f Field, value any) *Context {
	if c.slots == nil {
		filled := &Context{slots: new(slots)}
		c.export(filled)
		c.slots = filled.slots
	}
	c.slots.frozen.Store(0)
	c.put(f, value)
	return c
}

func (c *Context) put(f Field, value any) {
	c.slots.values[f], c.slots.has[f] = value, value != nil
}

func (c *Context) clone() *Context {
	s := new(slots)
	for f := range numFields {
		if !f.Derived() {
			s.values[f], s.has[f] = c.slots.values[f], c.slots.has[f]
		}
	}
	return &Context{slots: s}
}

// Get returns a field's value and whether it is present. Derived fields are
// computed on first use, at most once per Context.
func (c *Context) Get(f Field) (any, bool) {
	if f.Derived() {
		return c.derived(f)
	}
	return c.slots.values[f], c.slots.has[f]
}

func (c *Context) derived(f Field) (any, bool) {
	s := c.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done[f] && !s.has[f] {
		s.done[f] = true
		if provide := providers[f]; provide != nil {
			if v, ok := provide(c); ok {
				s.values[f], s.has[f] = v, true
			}
		}
	}
	return s.values[f], s.has[f]
}

// Has reports whether a field is present.
func (c *Context) Has(f Field) bool {
	_, ok := c.Get(f)
	return ok
}

// Text returns a field that holds a string, "" when it is absent or holds
// anything else.
func (c *Context) Text(f Field) string {
	v, _ := c.Get(f)
	s, _ := v.(string)
	return s
}

// At returns the value at a path and whether it is present.
func (c *Context) At(p Path) (any, bool) {
	v, ok := c.Get(p.Field)
	if !ok || len(p.Keys) == 0 {
		return v, ok
	}
	return lookup(v, p.Keys)
}

// With returns c changed by a patch. c is not changed; derived fields are
// computed anew.
func (c *Context) With(p Patch) *Context {
	if p.Empty() {
		return c
	}
	out := c.clone()
	for _, e := range p.edits {
		old := out.slots.values[e.Path.Field]
		out.put(e.Path.Field, assign(old, e.Path.Keys, e.Value, e.Delete))
	}
	return out
}

// Project returns what a hook that declared reads may see: those paths, and
// the fields every hook sees. Derived fields named in reads keep the values
// they have in c.
func (c *Context) Project(reads Paths) *Context {
	out := &Context{slots: new(slots)}
	for f := range numFields {
		if f.Spec().Always && c.slots.has[f] {
			out.put(f, c.slots.values[f])
		}
	}
	for _, p := range reads.All() {
		v, ok := c.At(p)
		if !ok || p.Field.Spec().Always {
			continue
		}
		out.put(p.Field, assign(out.slots.values[p.Field], p.Keys, v, false))
		if p.Field.Derived() && len(p.Keys) == 0 {
			out.recall(c, p.Field)
		}
	}
	return out
}

// Fields lists the fields that are present and were sent, in the order of the
// vocabulary.
func (c *Context) Fields() []Field {
	var out []Field
	for f := range numFields {
		if !f.Derived() && c.slots.has[f] {
			out = append(out, f)
		}
	}
	return out
}

// Map returns the present fields by name, as a hook reads them: what the host
// sent, tool_arguments beside tool_input, tool_kind beside tool_name, and the
// derived fields that Project gave it. It does not depend on which derived
// fields have been computed.
func (c *Context) Map() map[string]any {
	out := make(map[string]any, 16)
	for f := range numFields {
		if f.Derived() && f != FieldToolArguments && f != FieldToolKind && !c.given(f) {
			continue
		}
		if v, ok := c.Get(f); ok {
			out[f.String()] = v
		}
	}
	return out
}

// given reports whether a derived field was put there rather than computed.
func (c *Context) given(f Field) bool {
	s := c.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.has[f] && !s.done[f]
}

// MarshalJSON is Map as JSON with sorted keys and no HTML escapes.
func (c *Context) MarshalJSON() ([]byte, error) { return EncodeJSON(c.Map()) }

// EncodeJSON is v as compact JSON with sorted keys and no HTML escapes.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

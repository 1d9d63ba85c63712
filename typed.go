package hookc

import (
	"context"
	"reflect"
	"sync"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// Where is what a host knows at every lifecycle point. Here and in the structs
// below a zero field is an absent one, and a field of type any takes any Go
// value that encoding/json takes: it means its JSON. The JSON of a struct is
// the event that FireJSON reads.
type Where struct {
	SessionID string `json:"session_id,omitempty"`
	Cwd       string `json:"cwd,omitempty"`
	// ProjectRoot is by default found from Cwd.
	ProjectRoot     string `json:"project_root,omitempty"`
	Model           string `json:"model,omitempty"`
	PermissionMode  string `json:"permission_mode,omitempty"`
	AgentID         string `json:"agent_id,omitempty"`
	AgentType       string `json:"agent_type,omitempty"`
	Timestamp       string `json:"timestamp,omitempty"`
	TranscriptPath  string `json:"transcript_path,omitempty"`
	HookExecutionID string `json:"hook_execution_id,omitempty"`
	// Facts are what policies declare under facts: an object.
	Facts any `json:"facts,omitempty"`
	// Raw is what the host knows beyond the vocabulary: an object.
	Raw any `json:"raw,omitempty"`
}

// Call is a tool call. Result is set after it succeeded, Error after it
// failed.
type Call struct {
	Where
	// Tool is the agent's own name of the tool, ID the id of this call.
	Tool string `json:"tool_name,omitempty"`
	ID   string `json:"tool_use_id,omitempty"`
	// Input are the arguments: an object.
	Input any `json:"tool_input,omitempty"`
	// MCP names the server and the tool of an MCP call: an object.
	MCP    any    `json:"mcp,omitempty"`
	Result any    `json:"tool_result,omitempty"`
	Error  string `json:"tool_error,omitempty"`
}

// Turn is a turn of the conversation, as far as it has come, or a session.
type Turn struct {
	Where
	UserInput       string `json:"user_input,omitempty"`
	SystemPrompt    string `json:"system_prompt,omitempty"`
	AssistantOutput string `json:"assistant_output,omitempty"`
	// Messages is a list of objects with role and content.
	Messages any `json:"messages,omitempty"`
	// RequestConfig and ToolConfig are objects that matter before a model
	// request.
	RequestConfig any `json:"request_config,omitempty"`
	ToolConfig    any `json:"tool_config,omitempty"`
	// What led to it, as far as the host knows. StopHookActive is true when a
	// gate already kept the turn going; Steps counts those of the model.
	Source           string `json:"source,omitempty"`
	Reason           string `json:"reason,omitempty"`
	Trigger          string `json:"trigger,omitempty"`
	ErrorType        string `json:"error_type,omitempty"`
	NotificationType string `json:"notification_type,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`
	StopHookActive   bool   `json:"stop_hook_active,omitempty"`
	Steps            int    `json:"step_count,omitempty"`
	// What follows is known at the end.
	DurationSeconds float64 `json:"duration_seconds,omitempty"`
	TotalSteps      int     `json:"total_steps,omitempty"`
	ExitReason      string  `json:"exit_reason,omitempty"`
}

// Subagent is an agent that another one starts.
type Subagent struct {
	Where
	Name string `json:"subagent_name,omitempty"`
	Type string `json:"subagent_type,omitempty"`
	Task string `json:"task_description,omitempty"`
	// Output is its final reply, once it stops.
	Output string `json:"assistant_output,omitempty"`
	// What led to it, as far as the host knows. StopHookActive is true when a
	// gate already kept the turn going; Steps counts those of the model.
	Source           string `json:"source,omitempty"`
	Reason           string `json:"reason,omitempty"`
	Trigger          string `json:"trigger,omitempty"`
	ErrorType        string `json:"error_type,omitempty"`
	NotificationType string `json:"notification_type,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`
	StopHookActive   bool   `json:"stop_hook_active,omitempty"`
	Steps            int    `json:"step_count,omitempty"`
}

// Compaction is a compaction of the conversation.
type Compaction struct {
	Where
	// Messages is a list of objects with role and content.
	Messages     any    `json:"messages,omitempty"`
	SystemPrompt string `json:"system_prompt,omitempty"`
	// Tokens is how many tokens there were before it, MessageCount how many
	// messages; 0 counts Messages.
	Tokens       int `json:"pre_tokens,omitempty"`
	MessageCount int `json:"message_count,omitempty"`
	// What led to it, as far as the host knows. StopHookActive is true when a
	// gate already kept the turn going; Steps counts those of the model.
	Source           string `json:"source,omitempty"`
	Reason           string `json:"reason,omitempty"`
	Trigger          string `json:"trigger,omitempty"`
	ErrorType        string `json:"error_type,omitempty"`
	NotificationType string `json:"notification_type,omitempty"`
	StopReason       string `json:"stop_reason,omitempty"`
	StopHookActive   bool   `json:"stop_hook_active,omitempty"`
	Steps            int    `json:"step_count,omitempty"`
}

// Notification is something the agent tells its user.
type Notification struct {
	Where
	Type    string `json:"notification_type,omitempty"`
	Level   string `json:"level,omitempty"`
	Title   string `json:"title,omitempty"`
	Message string `json:"message,omitempty"`
	// What led to it, as far as the host knows. StopHookActive is true when a
	// gate already kept the turn going; Steps counts those of the model.
	Source         string `json:"source,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Trigger        string `json:"trigger,omitempty"`
	ErrorType      string `json:"error_type,omitempty"`
	StopReason     string `json:"stop_reason,omitempty"`
	StopHookActive bool   `json:"stop_hook_active,omitempty"`
	Steps          int    `json:"step_count,omitempty"`
}

// contextOf is the Context of one of the structs above.
func contextOf(v any) *policy.Context {
	c := policy.NewContext("")
	of := reflect.ValueOf(v)
	for _, r := range rowsOf(of.Type()) {
		if f := of.FieldByIndex(r.index); !f.IsZero() {
			c.Set(r.field, f.Interface())
		}
	}
	return c
}

// row says which field of an event a field of a struct means.
type row struct {
	index []int
	field policy.Field
}

var rows sync.Map // reflect.Type → []row

// rowsOf reads the rows of a struct from the names that it has in JSON.
func rowsOf(t reflect.Type) []row {
	if known, ok := rows.Load(t); ok {
		return known.([]row)
	}
	var out []row
	for _, f := range reflect.VisibleFields(t) {
		name, _, tagged := spell.Cut(f.Tag.Get("json"), ",")
		field, known := policy.ParseField(name)
		if tagged && !known {
			panic("hookc: no field is called " + name)
		}
		if known {
			out = append(out, row{f.Index, field})
		}
	}
	rows.Store(t, out)
	return out
}

func (c Compaction) context() *policy.Context {
	out := contextOf(c)
	if v, _ := out.Get(policy.FieldMessages); v != nil && c.MessageCount == 0 {
		out.Set(policy.FieldMessageCount, len(v.([]any)))
	}
	return out
}

// The helpers below are Fire for one lifecycle point each, so that a host
// needs one line where it integrates hooks and no knowledge of them. Errors
// and concurrency are those of Fire.

// SessionStart fires session_start: hooks may add context and messages.
func (e *Engine) SessionStart(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, SessionStart, contextOf(t))
}

// SessionEnd fires session_end, which only observes.
func (e *Engine) SessionEnd(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, SessionEnd, contextOf(t))
}

// PreSend fires pre_send_message before a prompt is accepted.
func (e *Engine) PreSend(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PreSendMessage, contextOf(t))
}

// PostSend fires post_send_message, which only observes.
func (e *Engine) PostSend(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PostSendMessage, contextOf(t))
}

// PreModel fires pre_llm_request before a model is called.
func (e *Engine) PreModel(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PreLLMRequest, contextOf(t))
}

// SelectTools fires tool_selection: hooks may narrow the tools offered.
func (e *Engine) SelectTools(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, ToolSelection, contextOf(t))
}

// PostModel fires post_llm_response before a reply is delivered.
func (e *Engine) PostModel(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PostLLMResponse, contextOf(t))
}

// PreTool fires pre_tool_execution before a tool runs. The call may run, with
// the input of Decision.Patch, only when the Decision permits it.
func (e *Engine) PreTool(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PreToolExecution, contextOf(c))
}

// Permission fires permission_request where the host would ask its user.
func (e *Engine) Permission(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PermissionRequest, contextOf(c))
}

// PostTool fires post_tool_execution before a result reaches the model.
func (e *Engine) PostTool(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PostToolExecution, contextOf(c))
}

// PostToolFailure fires post_tool_execution_failure before an error does.
func (e *Engine) PostToolFailure(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PostToolExecutionFailure, contextOf(c))
}

// Stop fires stop before a turn ends; keep_working means it goes on with the
// feedback or reasons of the Decision.
func (e *Engine) Stop(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, StopEvent, contextOf(t))
}

// PostStop fires post_stop, which only observes.
func (e *Engine) PostStop(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PostStop, contextOf(t))
}

// TurnEnd fires turn_end, which only observes.
func (e *Engine) TurnEnd(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, TurnEnd, contextOf(t))
}

// StopFailure fires stop_failure after a model error; it only observes.
func (e *Engine) StopFailure(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, StopFailure, contextOf(t))
}

// SubagentStart fires subagent_start before a subagent runs.
func (e *Engine) SubagentStart(ctx context.Context, s Subagent) (*policy.Decision, error) {
	return e.Fire(ctx, SubagentStart, contextOf(s))
}

// SubagentStop fires subagent_stop before a subagent ends.
func (e *Engine) SubagentStop(ctx context.Context, s Subagent) (*policy.Decision, error) {
	return e.Fire(ctx, SubagentStop, contextOf(s))
}

// Notify fires notify, which only observes.
func (e *Engine) Notify(ctx context.Context, n Notification) (*policy.Decision, error) {
	return e.Fire(ctx, Notify, contextOf(n))
}

// PreMicroCompact fires pre_micro_compact; a host that lets hookc run the
// whole compaction uses Run with "compact".
func (e *Engine) PreMicroCompact(ctx context.Context, c Compaction) (*policy.Decision, error) {
	return e.Fire(ctx, PreMicroCompact, c.context())
}

// PostMicroCompact fires post_micro_compact: hooks may change the messages.
func (e *Engine) PostMicroCompact(ctx context.Context, c Compaction) (*policy.Decision, error) {
	return e.Fire(ctx, PostMicroCompact, c.context())
}

// PreAutoCompact fires pre_auto_compact before a full compaction.
func (e *Engine) PreAutoCompact(ctx context.Context, c Compaction) (*policy.Decision, error) {
	return e.Fire(ctx, PreAutoCompact, c.context())
}

// PostAutoCompact fires post_auto_compact: hooks may change the messages.
func (e *Engine) PostAutoCompact(ctx context.Context, c Compaction) (*policy.Decision, error) {
	return e.Fire(ctx, PostAutoCompact, c.context())
}

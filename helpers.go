package hookc

import (
	"context"

	"github.com/hookc/hookc/policy"
)

// Where is what a host knows at every lifecycle point. Zero fields are absent.
type Where struct {
	SessionID, Cwd, Model, PermissionMode string
	AgentID, AgentType                    string
}

// Call is a tool call. Result is set after it succeeded, Error after it
// failed.
type Call struct {
	Where
	// Tool is the agent's own name of the tool, ID the id of this call.
	Tool, ID string
	Input    map[string]any
	Result   any
	Error    string
}

// Turn is a turn of the conversation, as far as it has come.
type Turn struct {
	Where
	UserInput, SystemPrompt, AssistantOutput string
	// Messages are objects with role and content.
	Messages []any
	// RequestConfig and ToolConfig matter before a model request.
	RequestConfig, ToolConfig map[string]any
	// StopReason and Steps say why and after how many steps it ends;
	// ErrorType why it failed.
	StopReason, ErrorType string
	Steps                 int
	// StopHookActive is true when a gate already kept this turn going.
	StopHookActive bool
}

// Subagent is an agent that another one starts.
type Subagent struct {
	Where
	Name, Type, Task string
	// Output is its final reply, once it stops.
	Output string
}

// Compaction is a compaction of the conversation.
type Compaction struct {
	Where
	Messages     []any
	SystemPrompt string
	// Trigger is what caused it: auto or manual.
	Trigger string
	// Tokens is how many tokens there were before it.
	Tokens int
}

// Notification is something the agent tells its user.
type Notification struct {
	Where
	Type, Level, Title, Message string
}

func (w Where) context() *policy.Context {
	return &policy.Context{SessionID: w.SessionID, Cwd: w.Cwd, Model: w.Model, PermissionMode: w.PermissionMode,
		AgentID: w.AgentID, AgentType: w.AgentType}
}

func (c Call) context() *policy.Context {
	out := c.Where.context()
	out.ToolName, out.ToolUseID, out.ToolInput, out.ToolResult, out.ToolError = c.Tool, c.ID, c.Input, c.Result, c.Error
	return out
}

func (t Turn) context() *policy.Context {
	out := t.Where.context()
	out.UserInput, out.SystemPrompt, out.AssistantOutput, out.Messages = t.UserInput, t.SystemPrompt, t.AssistantOutput, t.Messages
	out.RequestConfig, out.ToolConfig = t.RequestConfig, t.ToolConfig
	out.StopReason, out.ErrorType, out.StepCount, out.StopHookActive = t.StopReason, t.ErrorType, t.Steps, t.StopHookActive
	return out
}

func (s Subagent) context() *policy.Context {
	out := s.Where.context()
	out.SubagentName, out.SubagentType, out.TaskDescription, out.AssistantOutput = s.Name, s.Type, s.Task, s.Output
	return out
}

func (c Compaction) context() *policy.Context {
	out := c.Where.context()
	out.Messages, out.SystemPrompt, out.Trigger, out.PreTokens, out.MessageCount = c.Messages, c.SystemPrompt, c.Trigger, c.Tokens, len(c.Messages)
	return out
}

func (n Notification) context() *policy.Context {
	out := n.Where.context()
	out.NotificationType, out.Level, out.Title, out.Message = n.Type, n.Level, n.Title, n.Message
	return out
}

// The helpers below are Fire for one lifecycle point each, so that a host
// needs one line where it integrates hooks and no knowledge of them. Errors
// and concurrency are those of Fire.

// SessionStart fires session_start: hooks may add context and messages.
func (e *Engine) SessionStart(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, SessionStart, t.context())
}

// SessionEnd fires session_end, which only observes.
func (e *Engine) SessionEnd(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, SessionEnd, t.context())
}

// PreSend fires pre_send_message before a prompt is accepted.
func (e *Engine) PreSend(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PreSendMessage, t.context())
}

// PostSend fires post_send_message, which only observes.
func (e *Engine) PostSend(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PostSendMessage, t.context())
}

// PreModel fires pre_llm_request before a model is called.
func (e *Engine) PreModel(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PreLLMRequest, t.context())
}

// SelectTools fires tool_selection: hooks may narrow the tools offered.
func (e *Engine) SelectTools(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, ToolSelection, t.context())
}

// PostModel fires post_llm_response before a reply is delivered.
func (e *Engine) PostModel(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PostLLMResponse, t.context())
}

// PreTool fires pre_tool_execution before a tool runs. The call may run, with
// the input of Decision.Patch, only when the Decision permits it.
func (e *Engine) PreTool(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PreToolExecution, c.context())
}

// Permission fires permission_request where the host would ask its user.
func (e *Engine) Permission(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PermissionRequest, c.context())
}

// PostTool fires post_tool_execution before a result reaches the model.
func (e *Engine) PostTool(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PostToolExecution, c.context())
}

// PostToolFailure fires post_tool_execution_failure before an error does.
func (e *Engine) PostToolFailure(ctx context.Context, c Call) (*policy.Decision, error) {
	return e.Fire(ctx, PostToolExecutionFailure, c.context())
}

// Stop fires stop before a turn ends; keep_working means it goes on with the
// feedback or reasons of the Decision.
func (e *Engine) Stop(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, StopEvent, t.context())
}

// PostStop fires post_stop, which only observes.
func (e *Engine) PostStop(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, PostStop, t.context())
}

// TurnEnd fires turn_end, which only observes.
func (e *Engine) TurnEnd(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, TurnEnd, t.context())
}

// StopFailure fires stop_failure after a model error; it only observes.
func (e *Engine) StopFailure(ctx context.Context, t Turn) (*policy.Decision, error) {
	return e.Fire(ctx, StopFailure, t.context())
}

// SubagentStart fires subagent_start before a subagent runs.
func (e *Engine) SubagentStart(ctx context.Context, s Subagent) (*policy.Decision, error) {
	return e.Fire(ctx, SubagentStart, s.context())
}

// SubagentStop fires subagent_stop before a subagent ends.
func (e *Engine) SubagentStop(ctx context.Context, s Subagent) (*policy.Decision, error) {
	return e.Fire(ctx, SubagentStop, s.context())
}

// Notify fires notify, which only observes.
func (e *Engine) Notify(ctx context.Context, n Notification) (*policy.Decision, error) {
	return e.Fire(ctx, Notify, n.context())
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

package agent

import (
	"fmt"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeSafeSide = diag.Define(diag.Code{
	ID: "HK031", Severity: diag.Warning, Security: true,
	Title: "agent's own rules would lose this answer",
	Help: `A hook forbade something, and the agent's own rules would pass over that without a word:
a later answer takes it back, the event obeys no decision, or a mistake in one answer
costs those of all. The text says what holds here; --faithful does as the agent does.`,
	Bad: `-- .gemini/settings.json --
{"hooks": {"BeforeModel": [{"hooks": [
  {"type": "command", "command": "echo '{\"decision\": \"deny\", \"reason\": \"no\"}'"},
  {"type": "command", "command": "echo '{\"decision\": \"allow\"}'"}]}]}}
-- event.json --
{"hook_event_name": "BeforeModel", "llm_request": {"model": "m", "messages": []}}
-- profile --
gemini
`,
	Good: `-- .gemini/settings.json --
{"hooks": {"BeforeModel": [{"hooks": [
  {"type": "command", "command": "echo '{\"decision\": \"deny\", \"reason\": \"no\"}'"}]}]}}
-- event.json --
{"hook_event_name": "BeforeModel", "llm_request": {"model": "m", "messages": []}}
-- profile --
gemini
`,
})

func safeSide(by policy.By, format string, args ...any) policy.Warning {
	return policy.Warning{Code: codeSafeSide, Hook: by.Name, Text: by.Name + ": " + fmt.Sprintf(format, args...)}
}

var codeUncarried = diag.Define(diag.Code{
	ID: "HK032", Severity: diag.Warning,
	Title: "answer that only the agent itself can follow",
	Help: `A hook asked for something that an agent's own hook system does and that a Decision has
no word for: another tool call in place of the result, or an empty conversation. It has no
effect through hookc; leave that hook in the agent's own settings.`,
	Bad: `-- .gemini/settings.json --
{"hooks": {"AfterTool": [{"hooks": [{"type": "command",
  "command": "echo '{\"hookSpecificOutput\": {\"tailToolCallRequest\": {\"name\": \"glob\", \"args\": {}}}}'"}]}]}}
-- event.json --
{"hook_event_name": "AfterTool", "tool_name": "glob", "tool_input": {}, "tool_response": {"llmContent": "x"}}
-- profile --
gemini
`,
	Good: `-- .gemini/settings.json --
{"hooks": {"AfterTool": [{"hooks": [{"type": "command",
  "command": "echo '{\"hookSpecificOutput\": {\"additionalContext\": \"seen\"}}'"}]}]}}
-- event.json --
{"hook_event_name": "AfterTool", "tool_name": "glob", "tool_input": {}, "tool_response": {"llmContent": "x"}}
-- profile --
gemini
`,
})

func uncarried(by policy.By, format string, args ...any) policy.Warning {
	return policy.Warning{Code: codeUncarried, Hook: by.Name, Text: by.Name + ": " + fmt.Sprintf(format, args...)}
}

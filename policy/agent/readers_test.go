package agent

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/hookc/hookc/policy"
)

// heard is what an agent understands of an answer, by its own rules as the
// references give them.
type heard struct {
	verdict string // "", allow, ask, deny
	ends    bool
	stops   bool
	retry   string
	reason  string
	context string
	system  string
	// input and result are what the call runs with and what it delivers; nil
	// when they stay as they are.
	input  map[string]any
	result any
	// broken is an answer the agent cannot read: it goes on as if the hook had
	// said nothing.
	broken string
}

func (h heard) refuses() bool { return h.verdict == "deny" || h.ends || h.stops || h.retry != "" }

// reader is one agent's reading of an answer at one of its events. before is
// the input of the call.
type reader func(event string, w Wire, before map[string]any) heard

var readers = map[string]reader{
	"jcli": hearJCLI, "gemini": hearGemini, "clawdcode": hearClawd, "clawdcode@doc": hearClawd, "agenthooks": hearAgentHooks, "aiagents": hearAIAgents,
	"claude": hearClaude, "claude@2.1.240": hearClaude, "codex": hearCodex, "qwen": hearQwen, "kimi": hearKimi,
	"cursor": hearCursor, "copilot": hearCopilot,
}

func parse(b []byte) (map[string]any, bool) {
	v, err := policy.DecodeJSON(b)
	m, ok := v.(map[string]any)
	return m, ok && err == nil
}

func str(m map[string]any, key string) string { s, _ := m[key].(string); return s }

func sub(m map[string]any, key string) map[string]any { s, _ := m[key].(map[string]any); return s }

func hearJCLI(event string, w Wire, _ map[string]any) (h heard) {
	text := strings.TrimSpace(string(w.Stdout))
	if w.Exit != 0 {
		return heard{broken: "exit status"}
	}
	if text == "" || text == "{}" {
		return h
	}
	m, ok := parse([]byte(text))
	if !ok {
		return heard{broken: "not a JSON object"}
	}
	h.system, h.context = str(m, "system_message"), str(m, "additional_context")
	switch action := m["action"]; {
	case action == nil:
	case action == "skip" && event == "pre_tool_execution":
		h.verdict = "deny"
	case action == "stop" && m["retry_feedback"] != nil && event == "stop":
		h.verdict, h.reason = "deny", str(m, "retry_feedback")
	case action == "stop" && m["retry_feedback"] != nil:
		h.retry = str(m, "retry_feedback")
	case action == "stop" && event != "pre_tool_execution":
		h.stops = true
	default:
		return heard{broken: "action without effect"}
	}
	if h.verdict == "deny" && h.reason == "" || h.stops {
		h.reason = h.system
	}
	if args, ok := m["tool_arguments"]; ok {
		text, isText := args.(string)
		input, isObject := parse([]byte(text))
		if !isText || !isObject {
			return heard{broken: "tool_arguments"}
		}
		h.input = input
	}
	if v, ok := m["tool_result"]; ok {
		h.result = v
	}
	return h
}

func hearGemini(event string, w Wire, _ map[string]any) (h heard) {
	text := strings.TrimSpace(string(w.Stdout))
	if text == "" {
		text = strings.TrimSpace(w.Stderr)
	}
	if text == "" {
		return h
	}
	m, ok := parse([]byte(text))
	if !ok {
		switch w.Exit {
		case 0, 1:
			return heard{system: text}
		}
		return heard{verdict: "deny", reason: text}
	}
	own := sub(m, "hookSpecificOutput")
	if m["hookSpecificOutput"] != nil && own == nil {
		return heard{broken: "hookSpecificOutput"}
	}
	h.system, h.reason, h.context = str(m, "systemMessage"), str(m, "reason"), str(own, "additionalContext")
	switch {
	case m["continue"] == false:
		h.ends, h.reason = true, str(m, "stopReason")
	case m["decision"] == "deny" || m["decision"] == "block":
		h.verdict = "deny"
	case m["decision"] == "ask" && event == "BeforeTool":
		h.verdict = "ask"
	case m["decision"] != nil:
		h.verdict = "allow"
	}
	if !h.refuses() {
		h.input = sub(own, "tool_input")
	}
	return h
}

func hearClawd(event string, w Wire, before map[string]any) (h heard) {
	text := strings.TrimSpace(string(w.Stdout))
	if w.Exit == 2 {
		if event == "PreToolUse" {
			return heard{verdict: "deny", reason: w.Stderr}
		}
		return heard{broken: "exit status"}
	}
	if w.Exit != 0 {
		return heard{broken: "exit status"}
	}
	if event == "UserPromptSubmit" {
		return heard{context: text}
	}
	var v any
	isJSON := json.Unmarshal([]byte(text), &v) == nil
	m, ok := v.(map[string]any)
	if event == "PostToolUse" {
		if isJSON && !ok {
			return heard{broken: "a JSON value that is no object"}
		}
		h.context = text
		if ok {
			if _, has := m["additionalContext"]; has && m["updatedOutput"] != nil {
				h.result, h.context = m["updatedOutput"], ""
				if _, isText := h.result.(string); !isText {
					return heard{broken: "updatedOutput is not a text"}
				}
			}
		}
		return h
	}
	if text != "" && !ok {
		return heard{broken: "not a JSON object"}
	}
	switch event {
	case "PreToolUse":
		decision, has := m["permissionDecision"]
		if has && decision == "deny" || decision == "ask" {
			return heard{verdict: decision.(string), reason: str(m, "permissionDecisionReason")}
		}
		if input := sub(m, "updatedInput"); has && input != nil {
			h.input = maps.Clone(before)
			maps.Copy(h.input, input)
		}
	case "PermissionRequest":
		h.verdict, h.reason = map[string]string{"approve": "allow", "deny": "deny"}[str(m, "decision")], str(m, "reason")
	case "Stop", "SubagentStop":
		if m["continue"] == true {
			return heard{verdict: "deny", reason: str(m, "reason")}
		}
	case "Compaction":
		if m["prevent"] == true {
			return heard{verdict: "deny", reason: str(m, "reason")}
		}
	}
	return h
}

func hearAgentHooks(event string, w Wire, _ map[string]any) (h heard) {
	if w.Exit == 2 {
		return heard{verdict: "deny", reason: strings.TrimSpace(w.Stderr)}
	}
	if w.Exit != 0 { // a warning to the user, whatever stdout has
		return heard{system: w.Stderr}
	}
	if len(w.Stdout) == 0 {
		return h
	}
	m, ok := parse(w.Stdout)
	if !ok {
		return heard{broken: "not a JSON object"}
	}
	return heard{verdict: str(m, "decision"), reason: str(m, "reason"), context: str(m, "additional_context"), input: sub(m, "modified_input")}
}

func hearAIAgents(event string, w Wire, _ map[string]any) (h heard) {
	text := strings.TrimSpace(string(w.Stdout))
	switch {
	case w.Exit == 2:
		return heard{verdict: "deny", reason: w.Stderr}
	case w.Exit != 0:
		return heard{broken: "exit status"}
	case !strings.HasPrefix(text, "{"):
		return heard{system: text}
	}
	m, ok := parse([]byte(text))
	if !ok {
		return heard{broken: "not JSON"}
	}
	h.reason, h.context = str(m, "reason"), str(m, "additionalContext")
	switch word := str(m, "decision"); {
	case m["continue"] == false:
		h.ends, h.reason = true, str(m, "stopReason")
	case event == "PreToolUse":
		h.verdict = word
	case word == "block":
		h.verdict = "deny"
	}
	return h
}

func hearClaude(event string, w Wire, _ map[string]any) (h heard) {
	m, object := parse(w.Stdout)
	own := sub(m, "hookSpecificOutput")
	if len(w.Stdout) > 0 && !object {
		return heard{broken: "not a JSON object"}
	}
	if own != nil && own["hookEventName"] != event {
		return heard{broken: "hookEventName"}
	}
	if w.Exit == 2 && event == "PermissionRequest" {
		return heard{broken: "exit status 2"}
	}
	if w.Exit != 0 && w.Exit != 2 && !object {
		return heard{broken: "exit status"}
	}
	h.system, h.context = str(m, "systemMessage"), str(own, "additionalContext")
	if word := str(m, "decision"); word == "block" {
		h.verdict, h.reason = "deny", str(m, "reason")
	}
	switch event {
	case "PreToolUse":
		h.verdict, h.reason = str(own, "permissionDecision"), str(own, "permissionDecisionReason")
		h.input = sub(own, "updatedInput")
	case "PermissionRequest":
		decision := sub(own, "decision")
		h.verdict, h.reason, h.input = str(decision, "behavior"), str(decision, "message"), sub(decision, "updatedInput")
	case "PostToolUse":
		h.result = own["updatedToolOutput"]
	}
	if m["continue"] == false {
		h.ends, h.reason = true, str(m, "stopReason")
	}
	if w.Exit == 2 {
		h.verdict, h.input = "deny", nil
		if h.reason == "" {
			h.reason = w.Stderr
		}
	}
	if event == "UserPromptSubmit" && h.verdict == "deny" {
		h.context = ""
	}
	return h
}

package agent

import "strings"

// codexTakes are all the keys Codex knows; any other fails the hook.
var codexTakes = map[string]string{
	"":             "continue stopReason suppressOutput systemMessage decision reason hookSpecificOutput",
	"SessionStart": "hookEventName additionalContext", "UserPromptSubmit": "hookEventName additionalContext", "SubagentStart": "hookEventName additionalContext",
	"PreToolUse":        "hookEventName additionalContext permissionDecision permissionDecisionReason updatedInput",
	"PostToolUse":       "hookEventName additionalContext",
	"PermissionRequest": "hookEventName decision",
}

func hearCodex(event string, w Wire, _ map[string]any) (h heard) {
	if w.Exit == 2 {
		reason := strings.TrimSpace(w.Stderr)
		if reason == "" || event == "PreCompact" || event == "SessionStart" {
			return heard{broken: "exit status 2"}
		}
		return heard{verdict: "deny", reason: w.Stderr}
	}
	if w.Exit != 0 {
		return heard{broken: "exit status"}
	}
	if len(w.Stdout) == 0 {
		return h
	}
	m, ok := parse(w.Stdout)
	own := sub(m, "hookSpecificOutput")
	if !ok || own != nil && own["hookEventName"] != event {
		return heard{broken: "shape"}
	}
	for k := range m {
		ok = ok && strings.Contains(" "+codexTakes[""]+" ", " "+k+" ")
	}
	for k := range own {
		ok = ok && strings.Contains(" "+codexTakes[event]+" ", " "+k+" ")
	}
	word, input := str(own, "permissionDecision"), sub(own, "updatedInput")
	if !ok || word != "" && (word != "allow" || input == nil) || event == "PreToolUse" && m["continue"] == false {
		return heard{broken: "unexpected"}
	}
	h.system, h.context, h.input = str(m, "systemMessage"), str(own, "additionalContext"), input
	h.verdict = str(sub(own, "decision"), "behavior")
	if m["decision"] == "block" {
		if strings.TrimSpace(str(m, "reason")) == "" {
			return heard{broken: "block without a reason"}
		}
		h.verdict, h.reason = "deny", str(m, "reason")
		if event == "PostToolUse" {
			h.result = h.reason
		}
	}
	if m["continue"] == false {
		h.reason = str(m, "stopReason")
		if h.verdict = "deny"; event != "PreCompact" {
			h.verdict, h.ends = "", true
		}
	}
	return h
}

func hearQwen(event string, w Wire, _ map[string]any) (h heard) {
	if w.Exit == 2 && event == "PreToolUse" && w.Stderr != "" {
		return heard{verdict: "deny", reason: w.Stderr}
	}
	m, ok := parse(w.Stdout)
	if w.Exit != 0 || len(w.Stdout) > 0 && !ok {
		return heard{broken: "exit status or shape"}
	}
	own := sub(m, "hookSpecificOutput")
	h.system, h.context, h.reason = str(m, "systemMessage"), str(own, "additionalContext"), str(m, "reason")
	if m["decision"] == "block" || m["decision"] == "deny" {
		h.verdict = "deny"
	}
	switch event {
	case "PreToolUse":
		h.verdict, h.reason = str(own, "permissionDecision"), str(own, "permissionDecisionReason")
	case "PermissionRequest":
		h.verdict, h.reason = str(sub(own, "decision"), "behavior"), str(sub(own, "decision"), "message")
	}
	return h
}

func hearKimi(event string, w Wire, _ map[string]any) (h heard) {
	reason := strings.TrimSpace(w.Stderr)
	switch {
	case w.Exit == 2 && (event == "PreToolUse" || event == "UserPromptSubmit" || event == "Stop" && reason != ""):
		return heard{verdict: "deny", reason: reason}
	case w.Exit != 0:
		return heard{broken: "exit status"}
	}
	return h
}

func hearCursor(event string, w Wire, _ map[string]any) (h heard) {
	if w.Exit == 2 {
		return heard{verdict: "deny"}
	}
	m, ok := parse(w.Stdout)
	if w.Exit != 0 || !ok {
		return heard{broken: "no JSON"}
	}
	h.context, h.reason = str(m, "additional_context"), str(m, "user_message")
	h.verdict, h.input, h.result = str(m, "permission"), sub(m, "updated_input"), m["updated_mcp_tool_output"]
	if h.verdict == "ask" && event != "beforeShellExecution" && event != "beforeMCPExecution" {
		return heard{broken: "ask is passed over"}
	}
	if m["continue"] == false {
		h.verdict = "deny"
	}
	if text := str(m, "followup_message"); text != "" {
		h.verdict, h.reason = "deny", text
	}
	return h
}

func hearCopilot(event string, w Wire, _ map[string]any) (h heard) {
	tool := event == "preToolUse" || event == "PreToolUse"
	if w.Exit != 0 {
		if tool {
			return heard{verdict: "deny", reason: w.Stderr}
		}
		return heard{broken: "exit status"}
	}
	m, ok := parse(w.Stdout)
	if len(w.Stdout) > 0 && !ok {
		return heard{broken: "not a JSON object"}
	}
	h.context, h.input = str(m, "additionalContext"), sub(m, "modifiedArgs")
	if modified := sub(m, "modifiedResult"); modified != nil {
		h.result = modified["textResultForLlm"]
	}
	h.verdict, h.reason = str(m, "permissionDecision"), str(m, "permissionDecisionReason")
	if event == "permissionRequest" || event == "PermissionRequest" {
		h.verdict, h.reason, h.ends = str(m, "behavior"), str(m, "message"), m["interrupt"] == true
	}
	if m["decision"] == "block" {
		h.verdict, h.reason = "deny", str(m, "reason")
	}
	return h
}

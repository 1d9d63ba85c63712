package source

import "github.com/hookc/hookc/policy/diag"

var codeDropped = diag.Define(diag.Code{
	ID:    "HK042",
	Title: "file that its agent drops whole",
	Bad: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, on_error: deny}`),
	Good: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, on_error: abort}`),
})

var codeReplaced = diag.Define(diag.Code{
	ID: "HK043", Severity: diag.Warning, Security: true,
	Title: "hooks that another file replaces or turns off",
})

var codeNeverFires = diag.Define(diag.Code{
	ID: "HK044", Severity: diag.Warning, Security: true,
	Title: "event that its agent never fires",
	Bad:   settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "cat"}]}]}}`),
	Good:  settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "cat"}]}]}}`),
})

var codeUnset = diag.Define(diag.Code{
	ID: "HK045", Severity: diag.Warning,
	Title: "variable that its agent never sets",
	Bad:   settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "wc -l \"$FILE_PATH\""}]}]}}`),
	Good:  settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "wc -l"}]}]}}`),
})

var codeLiteral = diag.Define(diag.Code{
	ID: "HK046", Severity: diag.Warning, Security: true,
	Title: "matcher that means something else than it looks",
	Bad: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, filter: {tool_matcher: "Edit.*"}}`),
	Good: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, filter: {tool_matcher: "Edit|Write"}}`),
})

var codeUnread = diag.Define(diag.Code{
	ID: "HK047", Severity: diag.Warning,
	Title: "key that its agent does not read",
	Bad: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, priority: 5}`),
	Good: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, timeout: 5}`),
})

// dropped is the finding that an agent drops a file: an error, unless the agent
// is followed faithfully.
//
//go:noinline
func (l *Loader) dropped(at diag.Span, format string, args ...any) diag.Diagnostic {
	d := codeDropped.Report(at, format, args...)
	if l.faithful {
		d.Severity = diag.Warning
	}
	return d
}

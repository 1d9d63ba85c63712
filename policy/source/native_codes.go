package source

import "github.com/hookc/hookc/policy/diag"

var codeDropped = diag.Define(diag.Code{
	ID:    "HK042",
	Title: "file that its agent drops whole",
	Help: `A value of the wrong type, or a word that its key does not take, makes the agent drop the
whole file with no more than a line in its log: none of the hooks in it would run. hookc does not
go on without them; with --faithful it does as the agent does, and this is a warning.`,
	Bad: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, on_error: deny}`),
	Good: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, on_error: abort}`),
})

var codeReplaced = diag.Define(diag.Code{
	ID: "HK043", Severity: diag.Warning, Security: true,
	Title: "hooks that another file replaces or turns off",
	Help: `By the agent's own rules a file that counts more takes the place of hooks in one that
counts less: a whole list of an event, or the hook of the same name. They do not run. Where the
file that would replace the user's hooks is the project's, hookc keeps both unless it is told
--faithful, and says so here.`,
	Bad: `-- .clawdcode/config.json --
{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat"}]}]}}
-- .clawdcode/settings.json --
{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat 1>&2"}]}]}}
-- profile --
clawdcode
`,
	Good: `-- .clawdcode/config.json --
{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "cat"}]}]}}
-- .clawdcode/settings.json --
{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat 1>&2"}]}]}}
-- profile --
clawdcode
`,
})

var codeNeverFires = diag.Define(diag.Code{
	ID: "HK044", Severity: diag.Warning, Security: true,
	Title: "event that its agent never fires",
	Help: `The agent declares this event and its configuration accepts hooks on it, but no part of
the agent ever fires it: the hooks never run. Use an event that fires.`,
	Bad:  settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "cat"}]}]}}`),
	Good: settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "cat"}]}]}}`),
})

var codeUnset = diag.Define(diag.Code{
	ID: "HK045", Severity: diag.Warning,
	Title: "variable that its agent never sets",
	Help: `A command uses a variable that the agent's document shows in an example and the agent
does not set: it is empty, and the command does not do what it seems to. Read the event from
stdin instead.`,
	Bad:  settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "wc -l \"$FILE_PATH\""}]}]}}`),
	Good: settingsOf("clawdcode", ".clawdcode/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "wc -l"}]}]}}`),
})

var codeLiteral = diag.Define(diag.Code{
	ID: "HK046", Severity: diag.Warning, Security: true,
	Title: "matcher that means something else than it looks",
	Help: `A matcher holds characters that mean themselves in this agent, or that make it match
nothing at all, such as * for every tool. Write the names, or what the agent reads as a pattern.`,
	Bad: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, filter: {tool_matcher: "Edit.*"}}`),
	Good: settingsOf("jcli", ".jcli/hooks.yaml", `pre_tool_execution:
  - {command: cat, filter: {tool_matcher: "Edit|Write"}}`),
})

var codeUnread = diag.Define(diag.Code{
	ID: "HK047", Severity: diag.Warning,
	Title: "key that its agent does not read",
	Help: `The agent's own files may hold any key; this one means nothing to the agent, which passes
over it without a word. What its author meant does not happen.`,
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

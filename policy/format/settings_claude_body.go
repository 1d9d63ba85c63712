package format

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// claudeNoModel are the events whose hooks are commands, requests and MCP
// tools; claudeLocal those whose hooks are commands and MCP tools alone.
var (
	claudeNoModel = []string{"InstructionsLoaded", "MessageDisplay", "Notification", "SubagentStart", "StopFailure", "ConfigChange", "CwdChanged",
		"DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch",
		"Elicitation", "ElicitationResult", "SessionEnd"}
	claudeLocal = []string{"SessionStart", "Setup"}
)

// claudeBody reads what a hook does. A type that an event does not take is
// passed over by Claude Code; one that hookc cannot run fails each time, so
// that every Decision says so and onFailure decides.
func claudeBody(r *settingsReader, native string, n *Node, h *policy.Hook) bool {
	kind := n.Get("type")
	if kind == nil || !kind.IsText() {
		r.report(codeNative.Report(itemSpan(n), "the hook has no type: it is passed over").WithHint(`write "type": "command"`))
		return false
	}
	word := kind.Text.Value
	switch {
	case !slices.Contains([]string{"command", "http", "mcp_tool", "prompt", "agent"}, word):
		r.report(codeNative.Report(kind.Span, "%q is no type of hook: it is passed over", word).
			WithHint("%s", diag.DidYouMean(word, []string{"command", "http", "mcp_tool", "prompt", "agent"}, "types: command, http, mcp_tool, prompt, agent")))
		return false
	case !claudeTakes(native, word, policy.Protocol(r.dialect.ID) == "claude@2.1.240"):
		r.report(codeNative.Report(kind.Span, "%s takes no hooks of type %s: it is passed over", native, word))
		return false
	case word == "command":
		return claudeCommandLine(r, n, h)
	case word == "prompt":
		prompt := n.Get("prompt")
		if prompt == nil || !prompt.IsText() || strings.TrimSpace(prompt.Text.Value) == "" {
			r.report(codeNative.Report(itemSpan(n), "the hook has no prompt: it is passed over"))
			return false
		}
		h.Kind, h.Body.Prompt = policy.KindLLM, prompt.Text
		if model := n.Get("model"); model != nil && model.IsText() {
			h.Body.Model = model.Text.Value
		}
		h.Body.Agent.ContinueTurn, _ = boolOf(n.Get("continueOnBlock"))
		return true
	}
	r.report(codeUnrun.Report(kind.Span, "hookc runs no hooks of type %s: this one fails each time and is in every decision", word).
		WithHint("leave it in Claude Code's own settings, or write it as a command"))
	h.Body.Command = diag.Literal("echo 'hookc runs no hooks of type " + word + "' >&2; exit 1")
	return true
}

func boolOf(n *Node) (on, ok bool) {
	if n == nil {
		return false, false
	}
	return n.Bool()
}

// claudeTakes reports whether an event has hooks of a type.
func claudeTakes(native, word string, old bool) bool {
	switch {
	case slices.Contains(claudeLocal, native):
		return word == "command" || word == "mcp_tool" && (old || native != "Setup")
	case slices.Contains(claudeNoModel, native):
		return word != "prompt" && word != "agent"
	case native == "PermissionRequest":
		return old || word != "agent"
	}
	return true
}

// claudePlaceholders are what stands for a folder in a command without a
// shell.
var claudePlaceholders = []string{"CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"}

// claudeCommandLine reads a command for the shell, or one with its arguments,
// which no shell reads: it is written for one so that it means the same.
func claudeCommandLine(r *settingsReader, n *Node, h *policy.Hook) bool {
	if !r.command(n, h) {
		return false
	}
	args := n.Get("args")
	if args == nil || args.IsNull() {
		return claudeShell(r, n, h)
	}
	words := []string{claudeWord(h.Body.Command.Value)}
	bad := args.Shape != List
	for _, a := range args.Items {
		bad = bad || !a.IsText()
		words = append(words, claudeWord(a.Text.Value))
	}
	if bad {
		r.report(codeNative.Report(args.Span, "args is a list of texts: the hook is passed over"))
		return false
	}
	h.Body.Command = diag.NewText("exec "+strings.Join(words, " "), h.Body.Command.Span, nil)
	return true
}

// claudeWord is a word as a shell would read it back, the placeholders filled
// in.
func claudeWord(text string) string {
	var b strings.Builder
	for text != "" {
		at, name := len(text), ""
		for _, p := range claudePlaceholders {
			if i := strings.Index(text, "${"+p+"}"); i >= 0 && i < at {
				at, name = i, p
			}
		}
		if at > 0 {
			b.WriteString("'" + strings.ReplaceAll(text[:at], "'", `'\''`) + "'")
		}
		if name == "" {
			break
		}
		b.WriteString(`"${` + name + `}"`)
		text = text[at+len(name)+3:]
	}
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// claudeShell reads which shell a command is for.
func claudeShell(r *settingsReader, n *Node, h *policy.Hook) bool {
	shell := n.Get("shell")
	switch {
	case shell == nil || shell.IsNull():
	case shell.IsText() && shell.Text.Value == "bash":
		h.Body.Args = []string{"bash", "-c", h.Body.Command.Value}
	case shell.IsText() && shell.Text.Value == "powershell":
		h.Body.Args = []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command", h.Body.Command.Value}
	default:
		r.report(codeNative.Report(shell.Span, "shell is bash or powershell: the hook is passed over"))
		return false
	}
	return true
}

var codeUnrun = diag.Define(diag.Code{
	ID: "HK036", Severity: diag.Warning,
	Title: "hook that hookc cannot run as its agent does",
	Help: `An agent's configuration has a hook of a kind that only the agent itself can run: a
request to a server, a tool of an MCP server, another agent, something that wakes the
model later. hookc does not pass over it: where it cannot run at all it fails at each event,
every Decision says so, and what a failure means there decides.`,
	Bad: `-- .claude/settings.json --
{"hooks": {"PreToolUse": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:9/guard"}]}]}}
-- profile --
claude
`,
	Good: `-- .claude/settings.json --
{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat"}]}]}}
-- profile --
claude
`,
})

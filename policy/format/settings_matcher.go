package format

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

var wholeNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\^(?:([A-Za-z0-9_-]+)|\((?:\?:)?([A-Za-z0-9_|-]+)\))\$$`)
})

// exactNames are the names that a regular expression for a whole name lists.
func exactNames(text string) ([]string, bool) {
	m := wholeNames().FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	names := strings.Split(m[1]+m[2], "|")
	slices.Sort(names)
	return slices.Compact(names), !slices.Contains(names, "")
}

// mayMatch reports whether a pattern matches a tool the agent is known to
// have, or one it may have. Names of MCP servers are anybody's: a pattern that
// matches what every such name begins with, or that speaks of them, may match.
func (r *settingsReader) mayMatch(p *pattern.Pattern) bool {
	profile := r.dialect.Profile
	if len(profile.Tools) == 0 || slices.ContainsFunc(profile.Tools, p.Match) {
		return true
	}
	for _, glob := range profile.Open {
		open := strings.TrimRight(glob, "*")
		if strings.Contains(p.String(), strings.TrimRight(open, "_")) || p.Match(open+"server_tool") {
			return true
		}
	}
	return false
}

// toolsElsewhere are tools' names in other agents, and what they are called in
// those of Gemini's family.
var toolsElsewhere = map[string]string{
	"bash": "run_shell_command", "shell": "run_shell_command", "edit": "replace", "multiedit": "replace", "write": "write_file",
	"read": "read_file", "grep": "grep_search", "ls": "list_directory", "webfetch": "web_fetch", "websearch": "google_web_search",
	"todowrite": "write_todos", "task": "invoke_agent",
}

// instead says what to write for a pattern that matches nothing.
func (r *settingsReader) instead(text string) string {
	var names []string
	for word := range strings.FieldsFuncSeq(strings.TrimPrefix(text, "(?i)"), func(c rune) bool { return strings.ContainsRune("|()^$ *", c) }) {
		name := toolsElsewhere[strings.ToLower(word)]
		if name == "" || !slices.Contains(r.dialect.Profile.Tools, name) {
			name = diag.Suggest(strings.ToLower(word), r.dialect.Profile.Tools)
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		return "did you mean " + strings.Join(names, "|") + "?"
	}
	return "tools: " + strings.Join(r.dialect.Profile.Tools, ", ")
}

var codeMatcher = diag.Define(diag.Code{
	ID: "HK033", Severity: diag.Warning,
	Title: "matcher that is not what it seems",
	Help: `A matcher of an agent's own configuration is read by that agent's rules: it matches none of
the agent's tools, cannot be read and is then a name, is compared as a whole where several
words are written, or stands where no matcher is looked at. So the hooks below it never run,
or always do, and the agent says nothing.`,
	Bad: `-- .gemini/settings.json --
{"hooks": {"BeforeTool": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "cat"}]}]}}
-- profile --
gemini
`,
	Good: `-- .gemini/settings.json --
{"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "cat"}]}]}}
-- profile --
gemini
`,
})

var codeTimeout = diag.Define(diag.Code{
	ID: "HK034", Severity: diag.Warning,
	Title: "timeout in another unit",
	Help: `Agents count timeouts in different units: Gemini CLI and Qwen Code in milliseconds, Claude
Code in seconds. A timeout of 5 gives a hook five milliseconds there, and a hook that is ended
before it answers guards nothing.`,
	Bad: `-- .gemini/settings.json --
{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "cat", "timeout": 30}]}]}}
-- profile --
gemini
`,
	Good: `-- .gemini/settings.json --
{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "cat", "timeout": 30000}]}]}}
-- profile --
gemini
`,
})

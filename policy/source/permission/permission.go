// Package permission reads the permission rules of Claude Code, which its hooks may have
// as a condition: Bash(git *).
package permission

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Condition is the condition of a permission rule in Claude Code's words, such
// as Bash(git *) (docs/reference/dialects, claude §4.5). What cannot be told for certain
// counts as a match: a guard is rather run than skipped.
func Condition(written diag.Text, faithful bool) (policy.Condition, bool) {
	rule, ok := parseClaudeRule(written.Value)
	if !ok {
		return policy.Condition{}, false
	}
	rule.faithful = faithful
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: policy.FieldToolName, Values: []string{written.Value, "if"},
		Reads: []policy.Field{policy.FieldToolName, policy.FieldToolInput, policy.FieldCwd, policy.FieldProjectRoot},
		Test:  rule.match,
	}}, true
}

// claudeRule is one permission rule: a tool, and what its call is about.
type claudeRule struct {
	tool, about string
	// narrowed is true when there is an about.
	narrowed bool
	faithful bool
}

var claudeRuleShape = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^([A-Za-z0-9_*-]+)(?:\((.*)\))?$`) })

func parseClaudeRule(text string) (claudeRule, bool) {
	m := claudeRuleShape().FindStringSubmatchIndex(strings.TrimSpace(text))
	if m == nil {
		return claudeRule{}, false
	}
	text = strings.TrimSpace(text)
	r := claudeRule{tool: text[m[2]:m[3]]}
	if m[4] >= 0 {
		r.about = strings.TrimSpace(text[m[4]:m[5]])
		r.narrowed = r.about != "" && r.about != "*"
	}
	return r, true
}

// claudeEditors and claudeReaders are the tools that a rule on Edit, and one
// on Read, covers.
var (
	claudeEditors = []string{"Edit", "MultiEdit", "NotebookEdit", "Write"}
	claudeReaders = []string{"Glob", "Grep", "LS", "NotebookRead", "Read"}
)

func (r claudeRule) match(c *policy.Context) bool {
	tool := c.Text(policy.FieldToolName)
	if !r.covers(tool) {
		return false
	}
	if !r.narrowed {
		return true
	}
	v, _ := c.Get(policy.FieldToolInput)
	input, _ := v.(map[string]any)
	text := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := input[k].(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	switch {
	case tool == "Bash" || tool == "PowerShell" || tool == "Monitor":
		return r.command(text("command"))
	case lists.Has(claudeEditors, tool), lists.Has(claudeReaders, tool):
		return r.path(c, text("file_path", "notebook_path", "path"))
	case tool == "WebFetch":
		return r.domain(text("url"))
	case tool == "Agent" || tool == "Task":
		agent := text("subagent_type")
		return agent == "" || claudeGlob(r.about, agent)
	case tool == "Skill":
		return claudeGlob(strings.TrimSuffix(r.about, ":*")+"*", text("skill", "command"))
	}
	return true
}

// covers reports whether the rule is about a tool at all.
func (r claudeRule) covers(tool string) bool {
	switch {
	case r.tool == tool, r.tool == "Task" && tool == "Agent", r.tool == "Agent" && tool == "Task":
		return true
	case r.tool == "Edit":
		return lists.Has(claudeEditors, tool)
	case r.tool == "Read":
		return lists.Has(claudeReaders, tool)
	case strings.HasPrefix(r.tool, "mcp__"):
		return claudeGlob(r.tool, tool) || strings.HasPrefix(tool, r.tool+"__")
	}
	return strings.Contains(r.tool, "*") && claudeGlob(r.tool, tool)
}

// claudeGlob reports whether a text is what a pattern with stars describes.
func claudeGlob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}

// command matches a command line: each command in it is tried, and one that
// cannot be read, or decides itself what it runs, matches.
func (r claudeRule) command(line string) bool {
	about := r.about
	if rest, ok := spell.CutSuffix(about, ":*"); ok {
		about = rest + " *"
	}
	p := readShellParts(line)
	if p.odd {
		return true
	}
	if name, rest, more := spell.Cut(about, " "); p.dynamic && (more && strings.Trim(rest, " *") != "" || strings.Contains(name, "*")) {
		return true
	}
	return slices.ContainsFunc(p.parts, func(part string) bool {
		return claudeCommand(about, part) || !r.faithful && opaqueShell(part)
	})
}

// claudeCommand reports whether one command is what a pattern describes. A
// pattern that ends in a space and a star is one on the words before it.
func claudeCommand(about, part string) bool {
	for {
		if claudeGlob(about, part) {
			return true
		}
		if rest, ok := spell.CutSuffix(about, " *"); ok && claudeGlob(rest, part) {
			return true
		}
		word, rest, more := spell.Cut(part, " ")
		if !more || !lists.Has(shellWrappers, filepath.Base(word)) {
			return false
		}
		part = strings.TrimSpace(rest)
		for strings.HasPrefix(part, "-") || durationWord().MatchString(part) {
			_, part, more = spell.Cut(part, " ")
			if part = strings.TrimSpace(part); !more {
				return false
			}
		}
	}
}

// shellWrappers start the command that follows them.
var shellWrappers = []string{"builtin", "command", "env", "exec", "nice", "nohup", "stdbuf", "sudo", "time", "timeout", "xargs"}

var durationWord = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9.]+[smhd]?( |$)`) })

// opaqueShell reports whether a command runs text that it is given.
func opaqueShell(part string) bool {
	words := strings.Fields(part)
	if len(words) == 0 {
		return false
	}
	switch filepath.Base(words[0]) {
	case "eval", "source", ".":
		return true
	case "sh", "bash", "dash", "ksh", "zsh":
		return slices.ContainsFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") && strings.Contains(w, "c") })
	}
	return false
}

// path matches a file: // is absolute, ~/ below home, / below the project,
// everything else below the working directory.
func (r claudeRule) path(c *policy.Context, file string) bool {
	cwd := c.Text(policy.FieldCwd)
	if file == "" || cwd == "" {
		return true
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(cwd, file)
	}
	about, base := r.about, cwd
	switch {
	case strings.HasPrefix(about, "//"):
		about, base = about[2:], "/"
	case strings.HasPrefix(about, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return true
		}
		about, base = about[2:], home
	case strings.HasPrefix(about, "/"):
		about, base = about[1:], c.Text(policy.FieldProjectRoot)
	default:
		about = strings.TrimPrefix(about, "./")
		if !strings.Contains(strings.TrimSuffix(about, "/"), "/") {
			about = "**/" + about // as in a .gitignore
		}
	}
	rel, err := filepath.Rel(base, filepath.Clean(file))
	if err != nil || strings.HasPrefix(rel, "..") {
		return false
	}
	rel, about = filepath.ToSlash(rel), strings.TrimSuffix(about, "/")
	for _, pattern := range []string{about, about + "/**"} {
		hit, err := doublestar.Match(pattern, rel)
		if hit || err != nil {
			return true
		}
	}
	return false
}

// domain matches the host of an address, and those below it.
func (r claudeRule) domain(address string) bool {
	want, ok := spell.CutPrefix(r.about, "domain:")
	u, err := url.Parse(address)
	if !ok || err != nil || u.Hostname() == "" {
		return true
	}
	host := strings.ToLower(u.Hostname())
	want = strings.ToLower(strings.TrimPrefix(want, "*."))
	return host == want || strings.HasSuffix(host, "."+want) || claudeGlob(want, host)
}

package agent

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/pattern"
)

// Matchers is how an agent writes conditions on a tool's name. The zero value
// has none: every call matches.
type Matchers struct {
	// Key is the key under which a matcher's text stands when it is an object.
	Key string
	// List are the characters, beside letters and digits, of a text that is a list
	// of names and no expression, "" where every text is an expression; Separators
	// divide the list.
	List, Separators string
	// Join writes the condition that holds for exactly the tools; false when
	// the syntax cannot say that of these names.
	Join func(tools []string) (string, bool)
	// Match reports whether a condition holds for a tool; known is false when
	// that cannot be told.
	Match func(matcher, tool string) (hit, known bool)
}

// All reports whether a matcher's text is the condition that always holds.
func (m *Matchers) All(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || m.Join == nil || text == "*" && m.Key == ""
}

// Covers reports whether a matcher holds for a tool.
func (m *Matchers) Covers(text, tool string) (hit, known bool) {
	if m.All(text) {
		return true, true
	}
	return m.Match(text, tool)
}

func quoted(tools []string) string { return strings.Join(lists.Each(tools, regexp.QuoteMeta), "|") }

// found reports whether a regular expression is found in a name. Go's dialect
// stands in for the agent's own; what it cannot read is not known.
func found(pattern, tool string) (hit, known bool) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false, false
	}
	return re.MatchString(tool), true
}

// searched is a regular expression that is looked for anywhere in the name.
var searched = Matchers{
	Join:  func(tools []string) (string, bool) { return "^(" + quoted(tools) + ")$", true },
	Match: found,
}

// wrapped is a regular expression that must hold for the whole name.
var wrapped = Matchers{
	Join:  func(tools []string) (string, bool) { return quoted(tools), true },
	Match: func(matcher, tool string) (bool, bool) { return found("^(?:"+matcher+")$", tool) },
}

// listed is a list of names as long as it is made of letters, digits and the
// extra characters, and a regular expression otherwise; separators divide the
// list.
func listed(extra, separators string) Matchers {
	plain := func(s string) bool { return pattern.Lists(s, extra) }
	return Matchers{
		List: extra, Separators: separators,
		Join: func(tools []string) (string, bool) {
			if slices.ContainsFunc(tools, func(t string) bool { return !plain(t) || strings.ContainsAny(t, separators+" ") }) {
				return searched.Join(tools)
			}
			return strings.Join(tools, "|"), true
		},
		Match: func(matcher, tool string) (bool, bool) {
			if !plain(matcher) {
				return found(matcher, tool)
			}
			return lists.Has(pattern.Listed(matcher, separators), tool), true
		},
	}
}

// exactList is a list of names and nothing else.
var exactList = Matchers{
	Join: func(tools []string) (string, bool) {
		for _, t := range tools {
			if t != strings.TrimSpace(t) || t == "" || strings.Contains(t, "|") {
				return "", false
			}
		}
		return strings.Join(tools, "|"), true
	},
	Match: func(matcher, tool string) (bool, bool) {
		names := strings.Split(matcher, "|")
		return slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(n) == tool }), true
	},
}

// underTools is ClawdCode's: under tools, a list of names or a regular
// expression for the whole name.
var underTools = Matchers{
	Key: "tools",
	Join: func(tools []string) (string, bool) {
		if slices.ContainsFunc(tools, func(t string) bool { return !pattern.Lists(t, "-_") }) {
			return "", false
		}
		return strings.Join(tools, "|"), true
	},
	Match: func(matcher, tool string) (bool, bool) {
		if hit, _ := exactList.Match(matcher, tool); hit && !strings.ContainsAny(matcher, `\^$`) {
			return true, true
		}
		return wrapped.Match(matcher, tool)
	},
}

// Package callmatch makes the conditions on what a call names, as ClawdCode's
// matchers have them and the filters of a hooks.yaml under the same words: paths
// and commands. Each holds for a call that has no such value. It also looks for a
// pattern in the texts of a call's input.
package callmatch

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/pattern"
)

// ByName reports whether an atom looks at nothing but the tool's name.
func ByName(a *policy.Atom) bool {
	return len(a.Reads) > 0 && !slices.ContainsFunc(a.Reads, func(f policy.Field) bool { return f != policy.FieldToolName && f != policy.FieldToolKind })
}

// Paths is the condition that the file a call names is matched by one of the
// globs A|B (pattern.Minimatch).
func Paths(text string) *policy.Atom {
	var globs []*pattern.Pattern
	for part := range strings.SplitSeq(text, "|") {
		globs = append(globs, pattern.Minimatch(strings.TrimSpace(part)))
	}
	return atom(text, policy.FieldPath, file, func(s string) bool {
		return slices.ContainsFunc(globs, func(p *pattern.Pattern) bool { return p.Match(s) })
	})
}

// Commands is the condition that the command of a call of Bash or Shell is what
// the text says, as Text reads it.
func Commands(text string) (*policy.Atom, error) {
	match, _, err := Text(text)
	return atom(text, policy.FieldCommand, command, match), err
}

// plain is a pattern that lists names: the expression says the same.
var plain = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_\- |]+$`) })

// Text reads a list of values A|B, and always an expression of ECMAScript on the
// whole value as well; names are the values of a text that is a list alone. With an
// error the text is no expression and is matched on its own and by its values only.
func Text(text string) (match func(string) bool, names []string, err error) {
	var exact []string
	if !strings.ContainsAny(text, `\^$`) {
		for part := range strings.SplitSeq(text, "|") {
			exact = append(exact, strings.TrimSpace(part))
		}
	}
	if plain().MatchString(text) {
		names = lists.Concat(exact, strings.Split(text, "|"))
		names = lists.Distinct(names)
	}
	whole, err := pattern.WholeECMAScript(text)
	if err != nil {
		return func(s string) bool { return s == text || lists.Has(exact, s) }, nil, err
	}
	return func(s string) bool { return lists.Has(exact, s) || whole.Match(s) }, names, nil
}

// atom is a condition on a value that a call may not have: then it holds.
func atom(text string, f policy.Field, value func(*policy.Context) string, test func(string) bool) *policy.Atom {
	return &policy.Atom{
		Op: policy.AtomMatch, Field: f, Values: []string{text}, Reads: []policy.Field{policy.FieldToolName, policy.FieldToolInput},
		Test: func(c *policy.Context) bool {
			v := value(c)
			return v == "" || test(v)
		},
	}
}

func file(c *policy.Context) string {
	return inputText(c, "file_path", "path", "filePath", "file", "target")
}

func command(c *policy.Context) string {
	if tool := c.Text(policy.FieldToolName); tool != "Bash" && tool != "Shell" {
		return ""
	}
	return inputText(c, "command", "cmd", "script")
}

// inputText is the first of several keys of a call's input that holds a text.
func inputText(c *policy.Context, keys ...string) string {
	v, _ := c.Get(policy.FieldToolInput)
	m, _ := v.(map[string]any)
	for _, k := range keys {
		if s, ok := m[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// Leaf asks the pattern about each text within tool_input.
func Leaf(c *policy.Context, p *pattern.Pattern) bool {
	v, ok := c.Get(policy.FieldToolInput)
	return ok && leaf(v, p)
}

// LeafOrWhole is Leaf, or else the compact JSON of tool_input.
func LeafOrWhole(c *policy.Context, p *pattern.Pattern) bool {
	v, ok := c.Get(policy.FieldToolInput)
	if !ok {
		return false
	}
	if leaf(v, p) {
		return true
	}
	text, err := policy.EncodeJSON(v)
	return err == nil && p.Match(string(text))
}

// leaf looks depth first, objects in the order of their keys.
func leaf(v any, p *pattern.Pattern) bool {
	switch v := v.(type) {
	case string:
		return p.Match(v)
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return leaf(item, p) })
	case map[string]any:
		for _, k := range lists.Keys(v) {
			if leaf(v[k], p) {
				return true
			}
		}
	}
	return false
}

package build

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy"
)

// unlisted is a text that no filter lists.
const unlisted = "\x00hookc"

// field takes over a condition that lists texts or prefixes of one field; nil
// when it is another.
func (p *planner) field(a *policy.Atom) *table.Atom {
	switch a.Key {
	case policy.FilterSource, policy.FilterReason, policy.FilterTrigger, policy.FilterNotification, policy.FilterAgent,
		policy.FilterPermissionMode, policy.FilterNotMode, policy.FilterModelPrefix:
	default:
		return nil
	}
	ask := func(text string) bool { return a.Test(p.context(map[policy.Field]any{a.Field: text})) }
	out := &table.Atom{Kind: table.AtomField, Field: int(a.Field), Absent: a.Test(p.absent), Empty: ask(""), Else: ask(unlisted)}
	if a.Key == policy.FilterModelPrefix {
		prefix := a.Values[len(a.Values)-1]
		out.Prefixes = []table.Row{{Text: prefix, Holds: ask(prefix + unlisted)}}
		return out
	}
	for _, v := range a.Values {
		out.Exact = append(out.Exact, table.Row{Text: v, Holds: ask(v)})
	}
	return out
}

// command takes over an expression on the command line; nil when it is too
// large.
func (p *planner) command(a *policy.Atom) *table.Atom {
	dfa := p.automaton(a.Values[len(a.Values)-1])
	if dfa == nil {
		return nil
	}
	ask := func(input map[string]any) bool {
		return a.Test(p.context(map[policy.Field]any{policy.FieldToolName: "Bash", policy.FieldToolInput: input}))
	}
	return &table.Atom{Kind: table.AtomCommand, DFA: dfa, Absent: ask(map[string]any{}), Empty: ask(map[string]any{"command": ""})}
}

// tests are what the name of a tool that is not known must look like to pass
// the conditions, and exact whether every such name passes; ok is false when none
// does.
func (p *planner) tests(f *filter) (out []table.Test, exact, ok bool) {
	exact = true
	for _, a := range f.tool {
		test, all, ok := p.test(a)
		if !ok {
			return nil, false, false
		}
		exact = exact && all
		if test.Kind != table.TestAny {
			out = append(out, test)
		}
	}
	return out, exact, true
}

// test is one condition on a name that is not known. Every text that a
// condition lists is known.
func (p *planner) test(a *policy.Atom) (test table.Test, exact, ok bool) {
	if a.Field == policy.FieldToolKind {
		// A tool that is not known is an MCP server's, or of kind other.
		passing := 0
		for _, name := range []string{"mcp__" + unlisted, unlisted} {
			if a.Test(p.context(map[policy.Field]any{policy.FieldToolName: name})) {
				passing++
			}
		}
		return table.Test{}, passing == 2, passing > 0 // the zero Test is TestAny
	}
	switch a.Key {
	case policy.FilterToolName, policy.FilterToolMatcher:
		return table.Test{}, false, false
	case policy.FilterToolRegexp:
		if text, ok := beginning(a.Values[len(a.Values)-1]); ok {
			return table.Test{Kind: table.TestPrefix, Text: text}, true, true
		}
		if dfa := p.automaton(a.Values[len(a.Values)-1]); dfa != nil {
			return table.Test{Kind: table.TestDFA, DFA: dfa}, true, true
		}
	}
	l := a.Literals
	switch {
	case a.Op == policy.AtomIn, len(l.Exact) > 0 && len(l.Prefixes)+len(l.Suffixes) == 0:
		return table.Test{}, false, false
	case len(l.Prefixes) > 0 && len(l.Exact)+len(l.Suffixes) == 0:
		return table.Test{Kind: table.TestPrefix, Text: common(l.Prefixes, strings.HasPrefix, func(s string) string { return s[:len(s)-1] })}, false, true
	case len(l.Suffixes) > 0 && len(l.Exact)+len(l.Prefixes) == 0:
		return table.Test{Kind: table.TestSuffix, Text: common(l.Suffixes, strings.HasSuffix, func(s string) string { return s[1:] })}, false, true
	}
	return table.Test{Kind: table.TestAny}, false, true
}

// beginning is the text of an expression that says how a name begins and nothing
// else, which is smaller than its automaton.
func beginning(text string) (string, bool) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) != 2 || re.Sub[0].Op != syntax.OpBeginText {
		return "", false
	}
	literal := re.Sub[1]
	for _, r := range literal.Rune {
		if r >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(literal.Rune), literal.Op == syntax.OpLiteral && literal.Flags&syntax.FoldCase == 0
}

// common is what all texts begin, or end, with.
func common(texts []string, has func(s, part string) bool, shorter func(string) string) string {
	out := texts[0]
	for _, s := range texts[1:] {
		for !has(s, out) {
			out = shorter(out)
		}
	}
	return out
}

package pattern

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func TestLiterals(t *testing.T) {
	type l = policy.Literals
	for _, c := range []struct {
		text string
		want l
	}{
		{"^mcp__github__.*$", l{Prefixes: []string{"mcp__github__"}}},
		{"^(Edit|Write)$", l{Exact: []string{"Edit", "Write"}}},
		{"^Edit$|^Write$", l{Exact: []string{"Edit", "Write"}}},
		{"^(?:Multi)?Edit$", l{Exact: []string{"Edit", "MultiEdit"}}},
		{"_file$", l{Suffixes: []string{"_file"}}},
		{"(read|write)_file$", l{Suffixes: []string{"read_file", "write_file"}}},
		{"^Tool[0-2]", l{Prefixes: []string{"Tool0", "Tool1", "Tool2"}}},
		{"^a+b", l{Prefixes: []string{"a"}}}, {"^(?:ab)+c$", l{Prefixes: []string{"ab"}}}, {"^a{2,3}x", l{Prefixes: []string{"aaax", "aax"}}},
		{"^x*y", l{}}, {"Edit", l{}}, {"Edit|^Write", l{}}, {"(?i)^edit$", l{}}, {"(?m)^Edit$", l{}}, {"^", l{}}, {"^[^a]b", l{}}, {"^.b", l{}},
		{"^$", l{Exact: []string{""}}}, {`\bEdit$`, l{Suffixes: []string{"Edit"}}}, {"^\uFFFD$", l{}},
		{"^(a|b|c|d)(a|b|c|d)(a|b|c|d)x", l{Prefixes: []string{"aa", "ab", "ac", "ad", "ba", "bb", "bc", "bd", "ca", "cb", "cc", "cd", "da", "db", "dc", "dd"}}},
	} {
		p, err := RE2.Compile(c.text)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.Literals(), c.text)
	}
}

// A flavour that may give up on a text accepts it then, whatever it ends with;
// and what RE2 reads otherwise is not looked into.
func TestLiteralsOfOtherFlavours(t *testing.T) {
	of := func(p *Pattern, err error) policy.Literals {
		require.NoError(t, err)
		return p.Literals()
	}
	assert.Equal(t, []string{"mcp__"}, of(ECMAScript.Compile("^mcp__.*")).Prefixes)
	assert.Equal(t, []string{"Edit", "Write"}, of(WholeECMAScript("Edit|Write")).Exact)
	assert.Equal(t, policy.Literals{}, of(ECMAScript.Compile("(a+)+b$")))
	assert.Equal(t, policy.Literals{}, of(ECMAScript.Compile(`^\x41`)))
	assert.Equal(t, []string{"Edit"}, of(Python.Compile("^Edit")).Prefixes)
	assert.Equal(t, policy.Literals{}, of(Python.Compile("^Edit$")), "a line may follow")
	assert.Equal(t, policy.Literals{}, of(Glob("mcp__*")))
}

// holds reports whether a text is what the literals say.
func holds(l policy.Literals, s string) bool {
	switch {
	case len(l.Exact) > 0:
		return slices.Contains(l.Exact, s)
	case len(l.Prefixes) > 0:
		return slices.ContainsFunc(l.Prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
	case len(l.Suffixes) > 0:
		return slices.ContainsFunc(l.Suffixes, func(p string) bool { return strings.HasSuffix(s, p) })
	}
	return true
}

// FuzzLiterals: a text that a pattern matches is what its literals say.
func FuzzLiterals(f *testing.F) {
	for _, text := range []string{"^mcp__.*$", "^(Edit|Write)$", "_file$", "^Tool[0-2]+x?$", "(?i)^a|b$", "^(a|b)*c", "^a{2,3}$|^b", "(^a|b)(c$|d)", "^\uFFFD", "a$b^c", "^(^a|)b", "x?$", "(?s)^.a", `\Aab\z`, `(?m:^)a`} {
		for _, s := range []string{"mcp__x__y", "Edit", "read_file", "Tool12x", "aac", "c", "b", "\xff", "ab", ""} {
			f.Add(text, s)
		}
	}
	f.Fuzz(func(t *testing.T, text, s string) {
		for _, flavour := range []*Flavour{RE2, ECMAScript, Python} {
			p, err := flavour.Compile(text)
			if err != nil {
				continue
			}
			l := p.Literals()
			for _, s := range append([]string{s, s + text, text + s, strings.Trim(text, "^$")}, l.Exact...) {
				if p.Match(s) {
					require.True(t, holds(l, s), "%s %q matches %q: %q", flavour.Name, text, s, l)
				}
			}
		}
	})
}

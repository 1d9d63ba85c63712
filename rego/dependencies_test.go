package rego

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// A module is made again when a file changes that it can see, and only then.
func TestIslands(t *testing.T) {
	files := map[string]string{
		"lib/a.rego":       "package lib.a\nimport data.lib.b\nok(x) if b.ok(x)\n",
		"lib/b.rego":       "package lib.b\nok(x) if helper(x)\n",
		"lib/b_too.rego":   "package lib.b\nhelper(x) if x == \"x\"\n",
		"lib/c.rego":       "package lib.c\nok(x) if x == \"c\"\n",
		"data/limits.json": `{"limit": 1}`,
	}
	dir := shared(t, files)
	hooks := map[string]string{
		"imports": "import data.lib.a\ndeny contains \"no\" if a.ok(input.tool_name)",
		"refers":  "deny contains \"no\" if data.lib.c.ok(input.tool_name)",
		"nothing": "deny contains \"no\" if input.tool_name == \"x\"",
		"dynamic": "deny contains \"no\" if count(data.lib[_]) > 2",
	}
	var c Compiler
	made := map[string]*Module{}
	of := map[string]*policy.Hook{}
	config := withFiles(guard(""), dir, []string{"lib"}, []string{"data"}).File
	make := func(name string) {
		h := guard(hooks[name])
		h.Name, h.File = name, config
		m, found := c.Compile(h)
		require.NotNil(t, m, found.Render())
		made[name], of[name] = m, h
	}
	for name := range hooks {
		make(name)
	}
	for _, edit := range []struct {
		file, text string
		stale      []string
	}{
		{"lib/b_too.rego", "package lib.b\nhelper(x) if x == \"y\"\n", []string{"imports", "dynamic"}},
		{"lib/c.rego", "package lib.c\nok(x) if x == \"d\"\n", []string{"refers", "dynamic"}},
		{"lib/d.rego", "package lib.d\nok := true\n", []string{"dynamic"}},
		{"lib/e.rego", "package lib.a\nok(x) if x == \"e\"\n", []string{"imports", "dynamic"}},
		{"lib/e.rego", "", []string{"imports", "dynamic"}},
		{"data/limits.json", `{"limit": 2}`, []string{"imports", "refers", "nothing", "dynamic"}},
		{"data/limits.json", `{"limit": 2}`, nil},
		{"lib/d.rego", "package lib.d\nok if\n", []string{"imports", "refers", "nothing", "dynamic"}},
		{"lib/d.rego", "package lib.d\nok := true\n", []string{"dynamic"}}, // it was another file meanwhile
		{"lib/d.rego", "package lib.d\nok if nothing(1)\n", []string{"imports", "refers", "nothing", "dynamic"}},
		{"lib/d.rego", "package lib.d\nok := true\n", []string{"dynamic"}}, // it was another file meanwhile
	} {
		path := filepath.Join(dir, edit.file)
		if edit.text == "" {
			require.NoError(t, os.Remove(path))
		} else {
			require.NoError(t, os.WriteFile(path, []byte(edit.text), 0o644))
		}
		c.Begin()
		var stale []string
		for name, m := range made {
			if !c.Fresh(of[name], m) {
				stale = append(stale, name)
			}
		}
		assert.ElementsMatch(t, edit.stale, stale, "%s: %s", edit.file, edit.text)
		if _, found := c.Compile(of["nothing"]); found.HasErrors() {
			continue // for all: what is wrong with a library is wrong with each
		}
		for _, name := range stale {
			make(name)
		}
	}
}

// What is wrong with a file that a hook does not see is an error all the same.
func TestUnseenFilesAreChecked(t *testing.T) {
	dir := shared(t, map[string]string{"lib/a.rego": "package lib.a\nx if nobody(1)\n"})
	h := withFiles(guard(`deny contains "no" if input.tool_name == "x"`), dir, []string{"lib"}, nil)
	m, found := new(Compiler).Compile(h)
	assert.Nil(t, m)
	require.Len(t, found, 1)
	assert.Equal(t, "lib/a.rego:2:6", found[0].Span.String())
	assert.Equal(t, codeCompile, found[0].Code)
}

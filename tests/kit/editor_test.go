package kit_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// workspace is what the editor of TestEditor works in.
var workspace = map[string]string{
	"hooks.yaml": `version: 1
rego:
  data: [limits.json]
pre_tool_execution:
  - name: deploys
    deny: 'command contains "deploy"'
    reason: "no 😀 deploys"
  - {name: guard, file: guard.rego}
`,
	"guard.rego": `package guard

risky if contains(input.command, "prod")

deny contains "no prod" if risky

deny contains "no such file" if path.base(input.path) in data.limits.names
`,
	"limits.json":     `{"limits": {"names": ["a"]}}`,
	"hooks_test.yaml": cases,
	// Outside the project, and with the line ends of another system.
	"windows/hooks.yaml": "version: 1\r\npre_tool_execution:\r\n  - {name: \"😀\", denny: \"true\", reason: \"x\"}\r\n",
}

// TestEditor: a session of the protocol's own client with hookc lsp.
func TestEditor(t *testing.T) {
	kit := readers(t)
	dir := t.TempDir()
	put(t, dir, workspace)
	must(t, dir, environ(t), "git", "init", "--quiet", ".")
	text := must(t, dir, environ(t, "HOOKC_TEST_KIT="+kit), "node", filepath.Join(source(t), "tests", "kit", "testdata", "edit.cjs"), dir, programs.Hookc(t))
	var out struct {
		Clean, Typo, Rego, CRLF                            []finding
		Hover                                              struct{ Key, Field, Event, Hook, Fn, Rule string }
		Keys, Events, Data, Inputs, Actions, Lenses        []string
		Definition, File, References                       []string
		Renamed                                            map[string]string
		Formatted                                          string
		Early, Late, Unknown, Params, BadName, Taken, Exit int
		Cancelled, Outside, Elsewhere                      any
		Fixed, After                                       bool
		Prepared                                           extent
	}
	require.NoError(t, json.Unmarshal([]byte(text), &out), text)
	assert.Equal(t, []finding{{"HK006", 1, extent{place{5, 4}, place{5, 7}}}}, out.Typo)
	assert.Equal(t, []string{"Write deny"}, out.Actions)
	assert.True(t, out.Fixed, "the repair gives the file as it was")
	assert.Contains(t, out.Rego, finding{"HK071", 1, extent{place{2, 9}, place{2, 40}}})
	assert.Equal(t, []finding{{"HK006", 1, extent{place{2, 17}, place{2, 22}}}}, out.CRLF, "a column counts UTF-16")
	for in, want := range map[string]string{out.Hover.Key: "Who can set it: the hook's own tier", out.Hover.Field: "Carried by: pre_tool_execution", out.Hover.Event: "May change: tool_input",
		out.Hover.Hook: "Runs on: pre_tool_execution, by expr", out.Hover.Fn: "the last part of p", out.Hover.Rule: "**guard**: rego hook of the project tier"} {
		assert.Contains(t, in, want)
	}
	assert.Subset(t, out.Keys, []string{"deny", "filter", "parallel", "use"})
	assert.NotContains(t, out.Keys, "version")
	assert.Equal(t, []string{"pre_tool_execution"}, out.Events)
	assert.Equal(t, []string{"data.limits", "data.limits.names"}, out.Data)
	assert.Equal(t, []string{"input.command", "input.content"}, out.Inputs)
	assert.Equal(t, []string{"guard.rego:2:0"}, out.Definition)
	assert.Equal(t, []string{"guard.rego:0:0"}, out.File)
	assert.Equal(t, []string{"guard.rego:2:0", "guard.rego:4:27"}, out.References)
	assert.Equal(t, extent{place{4, 10}, place{4, 17}}, out.Prepared)
	assert.Equal(t, map[string]string{"hooks.yaml": strings.Replace(workspace["hooks.yaml"], "name: deploys", "name: releases", 1),
		"hooks_test.yaml": strings.ReplaceAll(cases, "by: deploys", "by: releases")}, out.Renamed)
	// As hookc fmt has it.
	put(t, dir, map[string]string{"spaced.yaml": strings.Replace(workspace["hooks.yaml"], "version: 1", "version:    1", 1)})
	assert.Equal(t, must(t, dir, environ(t), programs.Hookc(t), "fmt", "spaced.yaml"), out.Formatted)
	assert.Subset(t, out.Lenses, []string{"runs on pre_tool_execution, by expr", "run test"})
	assert.Equal(t, []int{-32002, -32600, -32601, -32602, -32602, -32803, 0}, []int{out.Early, out.Late, out.Unknown, out.Params, out.BadName, out.Taken, out.Exit})
	assert.Nil(t, out.Outside)
	assert.Nil(t, out.Elsewhere)
	assert.Contains(t, []any{"answered", -32800.0}, out.Cancelled, "it may be answered before it is cancelled")
	assert.True(t, out.After, "a message that is no JSON ends nothing")
}

type place struct{ Line, Character int }

type extent struct{ Start, End place }

// finding is what an editor shows; its text is of no matter here.
type finding struct {
	Code     string
	Severity int
	Range    extent
}

// TestExtensionIsPacked packs the extension for VS Code, and finds in it what VS Code
// starts, with the client that it requires.
func TestExtensionIsPacked(t *testing.T) {
	readers(t)
	dir := t.TempDir()
	must(t, dir, environ(t), filepath.Join(source(t), ".ci", "vscode"), dir)
	files := unpack(t, filepath.Join(dir, "hookc.vsix"))
	for _, name := range []string{"package.json", "extension.js", "LICENSE", "node_modules/vscode-languageclient/node.js"} {
		require.NotEmpty(t, files["extension/"+name], name)
		put(t, dir, map[string]string{name: string(files["extension/"+name])})
	}
	assert.Equal(t, read(t, source(t), "editors", "vscode", "extension.js"), read(t, dir, "extension.js"))
	var about struct {
		Name, Version, Publisher, Main string
		Dependencies                   map[string]string
	}
	require.NoError(t, json.Unmarshal(files["extension/package.json"], &about))
	assert.Contains(t, files, "extension/"+strings.TrimPrefix(about.Main, "./"))
	for name, version := range about.Dependencies {
		var have struct{ Version string }
		require.NoError(t, json.Unmarshal(files["extension/node_modules/"+name+"/package.json"], &have))
		assert.Equal(t, version, have.Version, name)
	}
	assert.Contains(t, string(files["extension.vsixmanifest"]), `<Identity Language="en-US" Id="`+about.Name+`" Version="`+about.Version+`" Publisher="`+about.Publisher+`"/>`)
	assert.Contains(t, string(files["[Content_Types].xml"]), `Extension=".vsixmanifest"`)
	must(t, dir, environ(t), "node", "--check", "extension.js")
}

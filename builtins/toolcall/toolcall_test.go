package toolcall

import (
	"testing"

	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestToolsOfAKindHaveThatKind(t *testing.T) {
	for name, kind := range toolKinds() {
		assert.Contains(t, OfKind(kind), name)
	}
	for _, kind := range []string{KindMCP, KindOther, ""} {
		assert.Nil(t, OfKind(kind))
	}
}

func TestToolKind(t *testing.T) {
	for tool, want := range map[string]string{
		"Bash": "shell", "Shell": "shell", "run_shell_command": "shell", "BashExecutor": "shell", "exec_command": "shell", "local_shell": "shell", "run_command": "shell", "Execute": "shell",
		"Read": "read", "read_file": "read", "FileReader": "read", "read_many_files": "read", "Write": "write", "write_file": "write", "WriteFile": "write", "FileWriter": "write", "create_file": "write",
		"Edit": "edit", "MultiEdit": "edit", "replace": "edit", "str_replace": "edit", "apply_patch": "edit", "NotebookEdit": "edit", "CodeEditor": "edit",
		"Glob": "search", "Grep": "search", "search_file_content": "search", "list_directory": "search", "WebFetch": "fetch", "web_fetch": "fetch", "google_web_search": "fetch",
		"Task": "agent", "Agent": "agent", "mcp__srv__tool": "mcp", "mcp_srv_tool": "mcp", "MCP:x": "mcp", "@server/tool": "mcp", "bAsH": "other", "": "other", "MyFile": "other",
	} {
		assert.Equal(t, want, KindOf(tool), tool)
	}
}

func TestDerivedFields(t *testing.T) {
	tests := []struct {
		tool  string
		input map[string]any
		want  map[policy.Field]any
	}{
		{"Bash", map[string]any{"command": "rm -rf x", "description": "d"}, map[policy.Field]any{policy.FieldCommand: "rm -rf x"}},
		{"Shell", map[string]any{"cmd": "ls"}, map[policy.Field]any{policy.FieldCommand: "ls"}},
		{"Shell", map[string]any{"argv": []any{"bash", "-lc", "echo it's $HOME", ""}}, map[policy.Field]any{policy.FieldCommand: `bash -lc 'echo it'\''s $HOME' ''`}},
		{"Shell", map[string]any{"command": []any{"ls", 3}}, nil},
		{"Shell", map[string]any{"command": []any{}}, nil},
		{"Bash", map[string]any{"command": 3, "cmd": "ls"}, map[policy.Field]any{policy.FieldCommand: "ls"}},
		{"Bash", map[string]any{"command": "ls", "path": "/x", "content": "c", "url": "u"}, map[policy.Field]any{policy.FieldCommand: "ls"}},
		{"Write", map[string]any{"file_path": "/a", "content": "c"}, map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: "c"}},
		{"Read", map[string]any{"file_path": "/a", "content": "c"}, map[policy.Field]any{policy.FieldPath: "/a"}},
		{"Edit", map[string]any{"file_path": "/a", "old_string": "x", "new_string": ""}, map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: ""}},
		{"MultiEdit", map[string]any{"file_path": "/a", "edits": []any{map[string]any{"new_string": "x"}, map[string]any{"new_str": "y"}, 3}}, map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: "x\ny"}},
		{"NotebookEdit", map[string]any{"notebook_path": "/n", "new_source": "s"}, map[policy.Field]any{policy.FieldPath: "/n", policy.FieldContent: "s"}},
		{"str_replace_editor", map[string]any{"command": "create", "path": "/a", "file_text": "t"}, map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: "t"}},
		{"WebFetch", map[string]any{"url": "https://x", "prompt": "p"}, map[policy.Field]any{policy.FieldURL: "https://x"}},
		{"mcp__a__b", map[string]any{"path": "/a", "data": "d", "command": "c", "url": "u"},
			map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: "d", policy.FieldCommand: "c", policy.FieldURL: "u"}},
		{"Bash", map[string]any{"cmd": "b", "command": "a", "Script": "c", "x": []any{map[string]any{"code": "d"}}}, map[policy.Field]any{policy.FieldCommand: "a\nb\nc\nd"}},
		{"Bash", map[string]any{"command": "", "cmd": "a", "script": "a"}, map[policy.Field]any{policy.FieldCommand: "a"}},
		{"Bash", map[string]any{"command": ""}, map[policy.Field]any{policy.FieldCommand: ""}},
		{"Write", map[string]any{"FilePath": "/a", "Content": "c", "text": "d"}, map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: "d\nc"}},
		{"Edit", map[string]any{"path": "/b", "file_path": "/a", "replacements": []any{map[string]any{"filePath": "/c", "newString": "x"}}},
			map[policy.Field]any{policy.FieldPath: "/a", policy.FieldContent: "x"}},
		{"Task", map[string]any{"path": "/a", "command": "c"}, nil},
		{"MyFile", map[string]any{"path": "/a", "command": "c"}, map[policy.Field]any{policy.FieldPath: "/a", policy.FieldCommand: "c"}},
	}
	for _, tt := range tests {
		c := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tt.tool).Set(policy.FieldToolInput, tt.input)
		got := map[policy.Field]any{}
		for _, f := range []policy.Field{policy.FieldCommand, policy.FieldPath, policy.FieldContent, policy.FieldURL} {
			if v, ok := c.Get(f); ok {
				got[f] = v
			}
		}
		if tt.want == nil {
			tt.want = map[policy.Field]any{}
		}
		assert.Equal(t, tt.want, got, "%s %v", tt.tool, tt.input)
	}
	c := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"b": 1, "a": "<"})
	assert.Equal(t, `{"a":"<","b":1}`, c.Text(policy.FieldToolArguments))
	assert.Equal(t, "shell", c.Text(policy.FieldToolKind))
	changed := c.With(policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"command": "ls"}))
	assert.Equal(t, "ls", changed.Text(policy.FieldCommand))
	bare := policy.NewContext(policy.PreToolExecution)
	assert.False(t, bare.Has(policy.FieldToolArguments) || bare.Has(policy.FieldToolKind) || bare.Has(policy.FieldCommand))
}

func TestShellField(t *testing.T) {
	c := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldCwd, "/repo/src").Set(policy.FieldProjectRoot, "/repo").
		Set(policy.FieldToolInput, map[string]any{"command": "rm x"})
	first, ok := Shell(c)
	require.True(t, ok)
	again, _ := Shell(c)
	assert.Same(t, first, again)
	value, _ := c.Get(policy.FieldShell)
	assert.Equal(t, first.JSON(), value)
	assert.Equal(t, "/repo/src/x", first.Effects[0].Target)
	assert.Equal(t, shell.ZoneProject, first.Effects[0].Place)
	seen, _ := Shell(c.Project(policy.FieldPaths(policy.FieldShell)))
	assert.Same(t, first, seen)
	rewritten, _ := Shell(c.With(policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"command": "rm y"})))
	assert.Equal(t, "/repo/src/y", rewritten.Effects[0].Target)
	_, ok = Shell(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Read").Set(policy.FieldToolInput, map[string]any{"command": "rm x"}))
	assert.False(t, ok)
	assert.False(t, policy.NewContext(policy.PreToolExecution).Has(policy.FieldShell))
	power, _ := Shell(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "PowerShell").Set(policy.FieldToolInput, map[string]any{"command": "rm x"}))
	assert.Equal(t, "rm", power.Effects[0].Op)
	says := map[string]any{"command": "del x & rd /s y", "shell": "cmd.exe"}
	cmd, _ := Shell(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, says))
	assert.Len(t, cmd.Effects, 2)
	nu, _ := Shell(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "rm x", "shell": "nu"}))
	assert.Equal(t, []string{shell.ShellNotPosix}, nu.Unknown)
	assert.Equal(t, policy.FieldPaths(policy.FieldShell).Names(), []string{"cwd", "project_root", "tool_name", "tool_input", "shell"})
}

// TestPartsShareNoKey: a key of one part is none of another, in no spelling.
func TestPartsShareNoKey(t *testing.T) {
	seen := map[string]int{}
	for i, keys := range Keys() {
		for _, key := range keys {
			if of, again := seen[Plain(key)]; again {
				assert.Equal(t, of, i, key)
			}
			seen[Plain(key)] = i
		}
	}
	assert.Equal(t, "filepath", Plain("File-_PATH"))
	assert.Equal(t, "tasks", Plain("Ta\u017f\u212as"))
}

// TestDoubt: two values of one thing in a call of a known tool are told.
func TestDoubt(t *testing.T) {
	doubt := func(tool string, input map[string]any) error {
		return Doubt(policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, input), policy.PreToolExecution, policy.FieldPaths(policy.FieldPath, policy.FieldURL))
	}
	assert.EqualError(t, doubt("Read", map[string]any{"file_path": "a", "path": "b"}), `the tool's input has two different values of path: "a" and "b"`)
	assert.Error(t, doubt("WebFetch", map[string]any{"url": "https://a", "URI": "https://b"}))
	assert.NoError(t, doubt("Read", map[string]any{"file_path": "a", "path": "a", "file": "", "filename": 3}))
	assert.NoError(t, doubt("mcp__a__b", map[string]any{"directory": "a", "filename": "b"}))
	assert.NoError(t, doubt("Bash", map[string]any{"command": "a", "cmd": "b", "path": "c", "file": "d"}))
}

package toolfiles

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/policy"
)

// TestOf: what a call names is found however it is spelled, and prose is no path.
func TestOf(t *testing.T) {
	t.Setenv("HOME", "/home/dev")
	type args = map[string]any
	for _, tt := range []struct {
		tool   string
		args   args
		path   string
		writes bool
	}{
		{"Write", args{"file_path": `infra\prod\a`}, "infra/prod/a", true},
		{"Read", args{"file_path": "@.env"}, ".env", false},
		{"Read", args{"file_path": ".env:1-20"}, ".env", false},
		{"Write", args{"file_path": "${workspaceFolder}/a"}, "a", true},
		{"edit_file", args{"cwd": "/p/infra", "file_path": "prod/a"}, "/p/infra/prod/a", true},
		{"mcp__x__edit_file", args{"repo_path": "/p/infra", "path": "prod/a"}, "/p/infra/prod/a", true},
		{"shell", args{"command": "cd infra && apply_patch <<'E'\n*** Begin Patch\n*** Update File: a\n*** End Patch\nE"}, "/p/infra/a", true},
		{"Grep", args{"glob": ".env", "output_mode": "content"}, "**/.env", false},
		{"write_file", args{"files": args{"infra/a": "x"}}, "infra/a", true},
		{"create_file", args{"files": []any{args{"name": "infra/a"}}}, "infra/a", true},
		{"read_file", args{"name": ".env"}, ".env", false},
		{"MultiEdit", args{"edits": `[{"file_path": "infra/a"}]`}, "infra/a", true},
		{"edit", args{"command": "view", "path": "a"}, "a", false},
		{"edit", args{"command": "view", "path": "a", "oldString": "x"}, "a", true},
		{"LSP", args{"operation": "hover", "filePath": "a"}, "a", false},
		{"LSP", args{"operation": "rename", "filePath": "a"}, "a", true},
		{"mcp__x__lint", args{"files": []any{"a"}}, "a", false},
		{"mcp__x__lint", args{"files": []any{"a"}, "fix": true}, "a", true},
		{"mcp__x__generate_tests", args{"files": []any{"a"}}, "a", true},
		{"mcp__x__git_add", args{"files": []any{"a"}}, "a", false},
		{"mcp__x__git_restore", args{"files": []any{"a"}}, "a", true},
		{"mcp__x__run", args{"what": "infra/a"}, "infra/a", true},
	} {
		in := callOf(tt.tool, tt.args)
		found := false
		for _, f := range Of(in, toolcall.KindOf(tt.tool)) {
			found = found || f.Path == tt.path && f.Writes == tt.writes
		}
		assert.True(t, found, "%s %v: %v", tt.tool, tt.args, Of(in, toolcall.KindOf(tt.tool)))
	}
	for tool, args := range map[string]args{
		"TodoWrite": {"todos": []any{args{"content": "infra/a lesen"}}}, "mcp__x__create_branch": {"branch": "infra/a"}, "AskUserQuestion": {"options": []any{args{"header": "infra/a"}}},
		"mcp__x__add_comment": {"body": "infra/a is wrong."}, "Grep": {"glob": ".env"}, "grep_search": {"includePattern": "!.env"},
	} {
		for _, f := range Of(callOf(tool, args), toolcall.KindOf(tool)) {
			assert.NotContains(t, f.Path, "infra/a", tool)
			assert.NotContains(t, f.Path, ".env", tool)
		}
	}
}

func callOf(tool string, args map[string]any) *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, args).Set(policy.FieldCwd, "/p").Set(policy.FieldProjectRoot, "/p")
}

// TestPatchFiles: the files of a patch in all the ways in which they are named.
func TestPatchFiles(t *testing.T) {
	for patch, want := range map[string][]string{
		"*** Begin Patch\n  *** Update File: a/x\n": {"a/x"},
		"*** Add File:a": {"a"},
		"diff --git a/x b/y\nBinary files differ":         {"x", "y"},
		"copy from x\ncopy to y":                          {"y"},
		"--- i/x\n+++ w/x":                                {"i/x", "x", "w/x"},
		"--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"":      {"ä"},
		"infra/a\n<<<<<<< SEARCH\na\n=======\nb\n":        {"infra/a"},
		"infra/a\n```go\n<<<<<<< SEARCH\na\n=======\nb\n": {"infra/a"},
		"Index: x\n===\n@@ -1 +1 @@":                      {"x"},
		"--- a/x\t2020\n+++ /dev/null":                    {"x"},
		"@@\n-a\n+b infra/a":                              nil,
	} {
		assert.Equal(t, want, PatchFiles(patch), patch)
	}
}

package toolcall

import (
	"strings"
	"testing"

	"github.com/hookc/hookc/policy"
	"github.com/stretchr/testify/assert"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"Bash", map[string]any{"command": "ls", "description": "rm x", "run_in_background": true}, "ls"},
		{"Bash", map[string]any{"command": "rm", "args": []any{"-rf", "a b"}}, "rm|rm -rf 'a b'"},
		{"run_command", map[string]any{"CommandLine": "rm", "Args": "-rf x"}, "rm|rm -rf x"},
		{"x", map[string]any{"executable": "git", "argv": []any{"push", "--force"}}, "push --force|git push --force"},
		{"x", map[string]any{"task": map[string]any{"command": "a", "args": []any{"b"}}}, "a|a b"},
		{"mcp__s__docker", map[string]any{"command": "system", "args": []any{"prune", "-af"}}, "system|system prune -af|docker  system  prune -af"},
		{"Bash", map[string]any{"command": "ls", "commands": []any{"a", "b"}}, "ls|sh -c a|sh -c b"},
		{"x", map[string]any{"steps": []any{map[string]any{"run": "a"}}}, ""},
		{"run_commands", map[string]any{"steps": []any{map[string]any{"run": "a"}}}, "sh -c a"},
		{"Bash", map[string]any{"code": "x", "language": "python"}, "x|python3 -c x"},
		{"run_code", map[string]any{"code": "x", "language": "Python"}, "python3 -c x"},
		{"run_code", map[string]any{"code": "x"}, "x"},
		{"mcp__s__run_python", map[string]any{"script": "x y"}, "python3 -c 'x y'"},
		{"run_python", map[string]any{"code": "x", "command": "x", "url": "y", "cmd": "y"}, "x|y|python3 -c x|curl y"},
		{"js_repl", map[string]any{"code": "x"}, "node -e x"},
		{"mcp__s__query", map[string]any{"sql": "a", "query": "b c"}, "psql -c 'b c'|psql -c a"},
		{"mcp__s__search", map[string]any{"query": "drop table x"}, ""},
		{"mcp__s__git_reset", map[string]any{"mode": "hard"}, "git reset --hard    "},
		{"mcp__s__git_push", map[string]any{"force": true, "dry_run": true, "tags": false}, "git push --dry-run --force    "},
		{"mcp__s__kubectl_delete", map[string]any{"resourceType": "namespace", "name": "prod"}, "kubectl delete namespace  prod "},
		{"mcp__s__drop-collection", map[string]any{"collection": "x"}, "mcp drop-collection    "},
		{"mcp__s__delete_repository", map[string]any{"language": "to restore"}, "mcp delete-repository    "},
		{"mcp__s__delete_comment", map[string]any{"id": "x"}, ""},
		{"mcp__s__restore_project", map[string]any{"id": "x"}, ""},
		{"WebFetch", map[string]any{"url": "https://a", "prompt": "rm -rf /"}, "curl https://a"},
		{"fetch", map[string]any{"url": "https://a", "method": "Delete"}, "curl https://a|curl -X DELETE https://a"},
		{"NotebookEdit", map[string]any{"notebook_path": "a.ipynb", "new_source": "!a\nb\n!c"}, " a| c"},
		{"NotebookEdit", map[string]any{"notebook_path": "a.ipynb", "new_source": "%%bash\na"}, " %%bash\na"},
		{"edit_notebook_file", map[string]any{"newCode": []any{"x", "!a"}}, " a"},
		{"Write", map[string]any{"file_path": "a", "content": "!a"}, ""},
		{"str_replace_editor", map[string]any{"command": "view", "path": "a"}, ""},
		{"Read", map[string]any{"file_path": "a"}, ""},
		{"", nil, ""},
	} {
		c := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tt.tool).Set(policy.FieldToolInput, tt.input)
		assert.Equal(t, tt.want, strings.Join(lines(c), "|"), "%s %v", tt.tool, tt.input)
	}
	c := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "NotebookEdit").Set(policy.FieldToolInput, map[string]any{"new_source": "!rm x"})
	s, ok := Shell(c)
	assert.True(t, ok && len(s.Effects) == 1)
	assert.False(t, c.Has(policy.FieldShell), "which calls of editors have not")
}

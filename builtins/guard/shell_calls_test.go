package guard

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// TestCallsThatSayMore: what a call says in two arguments, in code, by its name or in a cell is
// judged as the command line that it is.
func TestCallsThatSayMore(t *testing.T) {
	g := mustGuard(t, "shell-guard", map[string]any{"packs": []any{"all"}})
	for _, c := range []struct {
		tool  string
		input map[string]any
		stops bool
	}{
		{"mcp__s__run", map[string]any{"command": "rm", "args": []any{"-rf", "src"}}, true},
		{"mcp__s__run", map[string]any{"command": "rm", "args": []any{"-rf", "dist"}}, false},
		{"mcp__s__docker", map[string]any{"command": "system", "args": []any{"prune", "-af", "--volumes"}}, true},
		{"mcp__s__docker", map[string]any{"command": "ps", "args": []any{"-a"}}, false},
		{"mcp__s__run", map[string]any{"commands": []any{"ls", "rm -rf /"}}, true},
		{"mcp__s__interact_with_process", map[string]any{"input": "rm -rf /\n"}, true},
		{"mcp__s__interact_with_process", map[string]any{"input": "df = df[df.a > 3]\n"}, false},
		{"mcp__s__browser_type", map[string]any{"text": "`rm -rf /`"}, false},
		{"run_code", map[string]any{"language": "python", "code": "import shutil\nshutil.rmtree('/etc')"}, true},
		{"run_code", map[string]any{"language": "python", "code": "print(open('a > b').read())"}, false},
		{"mcp__s__browser_run_code", map[string]any{"code": "async (page) => { await page.goto('https://a'); }"}, false},
		{"run_python", map[string]any{"code": "rm -rf /", "command": "rm -rf /"}, true},
		{"NotebookEdit", map[string]any{"notebook_path": "a.ipynb", "new_source": "import os\n!rm -rf /"}, true},
		{"NotebookEdit", map[string]any{"notebook_path": "a.ipynb", "new_source": "%%bash\nfor i in / /etc; do\n  rm -rf $i\ndone"}, true},
		{"NotebookEdit", map[string]any{"notebook_path": "a.ipynb", "new_source": "!pip install -q pandas\nprint('rm -rf /')"}, false},
		{"mcp__s__execute_sql", map[string]any{"query": "DELETE FROM users;"}, true},
		{"mcp__s__execute_sql", map[string]any{"query": "DELETE FROM users WHERE id = 3"}, false},
		{"mcp__s__search_code", map[string]any{"query": "DROP TABLE users"}, false},
		{"mcp__s__git_reset", map[string]any{"mode": "hard"}, true},
		{"mcp__s__git_reset", map[string]any{"mode": "soft"}, false},
		{"mcp__s__delete_repository", map[string]any{"repo": "x"}, true},
		{"mcp__s__list_repositories", map[string]any{"force": true}, false},
		{"mcp__s__remove_from_collection", map[string]any{"id": "x"}, false},
		{"WebFetch", map[string]any{"url": "http://169.254.169.254/latest/meta-data/iam/security-credentials/"}, true},
		{"WebFetch", map[string]any{"url": "https://get.docker.com"}, false},
		{"fetch", map[string]any{"url": "https://api.github.com/repos/o/r", "method": "DELETE"}, true},
		{"fetch", map[string]any{"url": "https://api.github.com/repos/o/r"}, false},
	} {
		assert.Equal(t, c.stops, say(t, g, toolCall(c.tool, c.input)).Verdict != policy.None, "%s %v", c.tool, c.input)
	}
}

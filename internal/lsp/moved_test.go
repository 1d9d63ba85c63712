package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy/diag"
)

// TestDraftsFindTheSame: whatever was compiled before, the findings of the texts in an
// editor are those that a compilation of the same files from nothing has.
func TestDraftsFindTheSame(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	path, lib := filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "a.rego")
	inline := "  - name: %s\n    type: rego\n    source: |\n      package %s\n      deny contains \"no\" if not startswith(input.path, \"/%s\")\n      ask if input.tool_name == \"Bash\"\n"
	yaml := "rego: {paths: [lib]}\npre_tool_execution:\n" + fmt.Sprintf(inline, "a", "a", "a") + "  - {name: f, file: a.rego}\n" + fmt.Sprintf(inline, "b", "b", "b")
	drafts := map[string]string{path: yaml, lib: "package f\n\ndeny contains \"no\" if not startswith(input.path, \"/f\")\n"}
	shared := filepath.Join(dir, "lib", "l.rego")
	drafts[shared] = "package lib\n\nx := 1\n"
	require.NoError(t, os.MkdirAll(filepath.Dir(shared), 0o755))
	write := func() {
		for name, text := range drafts {
			require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		}
	}
	write()
	options := func(more ...hookc.Option) []hookc.Option {
		return append(more, hookc.Discover(dir), hookc.ShownFrom(dir), hookc.AsFound(), hookc.SkipVerify())
	}
	lines := func(found diag.List) (out []string) {
		for _, d := range found {
			out = append(out, d.Render())
		}
		return out
	}
	keep := host.Drafts[hookc.Option](true, func(path string) (string, bool) { text, ok := drafts[path]; return text, ok })
	for i, edit := range [][3]string{
		{}, {path, "rego: {", "\n\nrego: {"}, {path, "name: a", "name: longer"}, {lib, "package f", "# more\npackage f"}, {path, "/b", "/bb"},
		{path, "- name: b", "- nam: b"}, {path, "- nam: b", "- name: b"}, {lib, "startswith", "startwith"}, {lib, "startwith", "startswith"},
		{shared, "x := 1", "x := "}, {shared, "x := ", "y := 2"}, {path, "deny contains", "deny  contains"}, {path, "  - {name: f, file: a.rego}\n", ""},
		{path, "ask if", "#é\n      ask if"}, {path, "pre_tool_execution", "post_tool_execution"}, {path, "\n", "\r\n"},
	} {
		drafts[edit[0]] = strings.ReplaceAll(drafts[edit[0]], edit[1], edit[2])
		delete(drafts, "")
		_, got := hookc.Compile(options(keep)...)
		write()
		_, want := hookc.Compile(options()...)
		assert.Equal(t, lines(want), lines(got), "after edit %d: %q", i, edit)
	}
}

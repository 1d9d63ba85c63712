package rego

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func shared(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func withFiles(h *policy.Hook, dir string, paths, data []string) *policy.Hook {
	list := func(names []string) []diag.Text {
		var out []diag.Text
		for _, n := range names {
			out = append(out, diag.NewText(filepath.Join(dir, n), diag.Span{Source: h.Span.Source}, nil))
		}
		return out
	}
	h.File = &policy.FileConfig{Dir: dir, Rego: policy.RegoConfig{Paths: list(paths), Data: list(data)}}
	return h
}

func TestSharedLibraryAndData(t *testing.T) {
	dir := shared(t, map[string]string{
		"lib/git/push.rego":      "package lib.git\npushes(c) if startswith(c, \"git push\")\n",
		"lib/git/push_test.rego": "package lib.git_test\nthis is not rego\n",
		"limits.json":            `{"limits": {"branches": ["main"]}, "n": 3}`,
		"more/team/a.yaml":       "limits:\n  people: [ann]\n",
	})
	h := withFiles(guard(`import data.lib.git
deny contains b if { git.pushes(input.command); some b in data.limits.branches; endswith(input.command, b) }
message := data.team.limits.people[0]`), dir, []string{"lib"}, []string{"limits.json", "more"})
	m := compiled(t, h)
	in := bash("git push origin main")
	r, err := m.Run(context.Background(), in, 0)
	require.NoError(t, err)
	assert.Equal(t, summary{Verdict: "deny", Control: "go", VerdictAt: "6:7", Reasons: []string{"6:7 main"}, System: []string{"ann"}}, short(r))
	assert.Equal(t, []string{"tool_name", "tool_input", "command"}, m.Effects().Reads.Names())
}

func TestSharedFindings(t *testing.T) {
	dir := shared(t, map[string]string{
		"bad.rego":    "package lib\n\nf(x) if x ==\n",
		"uses.rego":   "package lib.net\nget(u) := http.send({\"method\": \"get\", \"url\": u})\n",
		"list.json":   `[1]`,
		"broken.json": "{\"a\":\n  1,}",
		"bad.yaml":    "a: 1\n b: 2\n",
		"one.json":    `{"x": {"y": 1, "z": 2}}`,
		"two.yaml":    "x:\n  y: 1\n",
	})
	tests := []struct {
		paths, data []string
		want        []string
	}{
		{[]string{"missing.rego"}, nil, []string{"hooks.yaml:1:1 HK077"}},
		{[]string{"bad.rego"}, nil, []string{"bad.rego:3:12 HK070"}},
		{[]string{"uses.rego"}, nil, []string{"uses.rego:2:11 HK074"}},
		{nil, []string{"gone.json"}, []string{"hooks.yaml:1:1 HK077"}},
		{nil, []string{"list.json"}, []string{"list.json:1:1 HK077"}},
		{nil, []string{"broken.json"}, []string{"broken.json:2:4 HK077"}},
		{nil, []string{"bad.yaml"}, []string{"bad.yaml:2:1 HK077"}},
		{nil, []string{"one.json", "two.yaml"}, []string{"two.yaml:1:1 HK077"}},
	}
	c := new(Compiler)
	for _, test := range tests {
		h := withFiles(guard(`deny contains "no" if true`), dir, test.paths, test.data)
		m, found := c.Compile(h)
		assert.Nil(t, m)
		var got []string
		for _, d := range found {
			got = append(got, d.Span.String()+" "+d.Code.ID)
			assert.Empty(t, d.Hook, "a finding about a shared file names no hook")
		}
		assert.Equal(t, test.want, got)
		_, again := c.Compile(h)
		found.Add(again...)
		found.Sort()
		assert.Len(t, found, len(got), "another hook repeats the finding exactly")
	}
}

// A file that changes is read again.
func TestSharedFileChanges(t *testing.T) {
	dir := shared(t, map[string]string{"limits.json": `{"limit": "a"}`})
	h := withFiles(guard(`message := data.limit`), dir, nil, []string{"limits.json"})
	c := new(Compiler)
	for _, want := range []string{"a", "b"} {
		c.Begin()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "limits.json"), []byte(`{"limit": "`+want+`"}`), 0o644))
		m, found := c.Compile(h)
		require.Empty(t, found)
		r, err := m.Run(context.Background(), bash("ls"), 0)
		require.NoError(t, err)
		assert.Equal(t, []string{want}, r.System)
	}
}

//go:build unix

package hostile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// TestNoVariableMovesTheProject: what a variable says is the project takes no call out of
// it: filters, path-guard and the guard of hookc itself say what they say without it, by
// every road and in every agent's words; and where the session began in it, it is it.
func TestNoVariableMovesTheProject(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	inner := filepath.Join(h.project, "pkg")
	for _, dir := range []string{inner, filepath.Join(h.project, "infra"), filepath.Join(h.home, "other", ".git"), filepath.Join(h.home, "plain", "sub")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	link := filepath.Join(h.project, "link")
	require.NoError(t, os.Symlink(filepath.Dir(h.project), link))
	require.NoError(t, put(h.home, ".config/hookc/hooks.yaml", "pre_tool_execution:\n"+
		"  - {name: infra, filter: {path: 'infra/**'}, deny: 'true', reason: the path says no}\n"+
		"  - {name: guard, use: path-guard, protect: [src/gen], outside: deny}\n"+
		"  - {name: here, filter: {tool_name: Bash}, deny: 'project_root == \""+h.project+"\"', reason: the place says no}\n"))
	program := programs.Hookc(t)
	artifact := h.compiled(t, program)
	h.served(t, program)
	roots := []string{"/", filepath.Dir(h.project), h.home, filepath.Join(h.home, "other"), "/etc", inner, link, h.project + "/..", h.project + "/infra/..", h.project + "x", "pkg", filepath.Join(h.project, "infra")}
	for i, a := range agent.All() {
		native, ok := guardOf(a)
		if !ok {
			continue
		}
		for _, v := range a.WireFormat().Env {
			if v.Field != policy.FieldProjectRoot {
				continue
			}
			for j, root := range append([]string{""}, roots...) {
				if !depth.Tries(i+j, 3) {
					continue
				}
				asked := *h
				asked.env = append(slices.Clone(h.env), v.Name+"="+root)
				for road, line := range map[string][]string{
					"run":      {program, "run", native, "--dialect", a.ID},
					"serve":    gate(t, program, native, a.ID),
					"artifact": gate(t, program, native, a.ID, "--socket", filepath.Join(h.home, "none"), "--artifact", artifact),
				} {
					got := asked.ask(t, string(a.Sample(native, "Bash", h.project)), line...)
					assert.Contains(t, got.stdout+got.stderr, "the place says no", "%s: %s=%s by %s", a.ID, v.Name, root, road)
				}
			}
		}
	}
	for _, whose := range [][3]string{{"claude", "PreToolUse", "CLAUDE_PROJECT_DIR"}, {"kimi", "PreToolUse", "KIMI_PROJECT_DIR"}, {"cursor", "preToolUse", "CURSOR_PROJECT_DIR"}} {
		for _, file := range []string{"infra/x", "src/gen/x", "../elsewhere/x", ".claude/settings.json", ".kimi/config.toml", ".cursor/hooks.json"} {
			event, err := json.Marshal(map[string]any{"hook_event_name": whose[1], "session_id": "w" + whose[0], "cwd": h.project, "tool_name": "Write",
				"tool_input": map[string]any{"file_path": filepath.Join(h.project, file), "content": "x"}})
			require.NoError(t, err)
			refused := func(env ...string) bool {
				asked := *h
				asked.env = append(slices.Clone(h.env), env...)
				a := asked.ask(t, string(event), program, "run", whose[1], "--dialect", whose[0])
				return a.code == 2 || strings.Contains(a.stdout, "deny")
			}
			without := refused()
			assert.True(t, without || strings.HasPrefix(file, "."), "%s of %s", whose[0], file)
			for i, root := range roots {
				if !depth.Tries(i+len(file), 3) {
					continue
				}
				assert.Equal(t, without, refused(whose[2]+"="+root), "%s of %s: %s", whose[0], file, root)
			}
		}
	}
	// A session that began where Claude Code says so stays there, wherever the agent goes.
	plain := filepath.Join(h.home, "plain")
	asked := *h
	asked.env = append(slices.Clone(h.env), "CLAUDE_PROJECT_DIR="+plain)
	for _, cwd := range []string{plain, filepath.Join(plain, "sub"), h.home, filepath.Join(h.home, "other"), "/"} {
		event, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "began", "cwd": cwd, "tool_name": "Write",
			"tool_input": map[string]any{"file_path": filepath.Join(plain, "infra", "x"), "content": "x"}})
		require.NoError(t, err)
		got := asked.ask(t, string(event), program, "run", "PreToolUse", "--dialect", "claude")
		assert.Contains(t, got.stdout+got.stderr, "the path says no", cwd)
		assert.NotContains(t, got.stdout+got.stderr, "HK190", cwd)
	}
}

// TestSettingsOfTheCallerOnEveryRoad: the settings that an agent's own variables name are
// protected by the server, too, which was started without them.
func TestSettingsOfTheCallerOnEveryRoad(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	program := programs.Hookc(t)
	h.served(t, program)
	elsewhere := filepath.Join(h.home, "elsewhere")
	require.NoError(t, os.Mkdir(elsewhere, 0o755))
	var status struct{ Socket string }
	require.NoError(t, json.Unmarshal([]byte(h.ask(t, "", program, "serve", "status", "--json").stdout), &status))
	for _, name := range append(agent.Variables(), "XDG_RUNTIME_DIR") {
		asked := *h
		asked.env = append(slices.Clone(h.env), name+"="+elsewhere)
		var files []string
		if name == "XDG_RUNTIME_DIR" {
			files = append(files, filepath.Join(elsewhere, "hookc", "x"))
		}
		for _, a := range agent.All() {
			place, err := a.Settings()
			if err != nil {
				continue
			}
			for i := range place.Files {
				if f := &place.Files[i]; f.Env == name && !strings.Contains(f.EnvPath, "*") {
					files = append(files, f.Where(h.home, h.project, func(of string) string { return map[string]string{name: elsewhere}[of] }))
				}
			}
		}
		require.NotEmpty(t, files, name)
		for _, file := range files {
			event, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": h.project, "tool_name": "Write",
				"tool_input": map[string]any{"file_path": file, "content": `{"disableAllHooks":true}`}})
			require.NoError(t, err)
			for road, line := range map[string][]string{
				"run":   {program, "run", "PreToolUse", "--dialect", "claude"},
				"serve": gate(t, program, "PreToolUse", "claude", "--socket", status.Socket),
			} {
				a := asked.ask(t, string(event), line...)
				assert.Contains(t, a.stdout, `"permissionDecision":"deny"`, "%s=%s: %s by %s", name, elsewhere, file, road)
			}
		}
	}
}

// TestSettingsWhereTheAgentStarted: the settings of every agent are protected in each folder
// that one may have been started in: that of the event, of the session's beginning and of
// what a variable says, those above up to the outermost project, and their roots.
func TestSettingsWhereTheAgentStarted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	program := programs.Hookc(t)
	pkg := filepath.Join(h.project, "pkg")
	inner := filepath.Join(pkg, "vendor", "lib")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, ".git"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(inner, "src"), 0o755))
	h.served(t, program)
	var names []string
	for _, a := range agent.All() {
		place, err := a.Settings()
		if err != nil {
			continue
		}
		for i := range place.Files {
			if f := &place.Files[i]; f.Base == agent.Project && !strings.Contains(f.Path, "*") {
				names = append(names, f.Path)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	require.Greater(t, len(names), 5)
	write := func(h *house, session, cwd, file string, line []string) string {
		event, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": session, "cwd": cwd, "tool_name": "Write",
			"tool_input": map[string]any{"file_path": file, "content": `{"disableAllHooks":true}`}})
		require.NoError(t, err)
		return h.ask(t, string(event), line...).stdout
	}
	tried := 0
	for name, where := range map[string]struct {
		began, cwd, variable string
		folders              []string
	}{
		"began":    {pkg, pkg, "", []string{pkg, h.project}},
		"further":  {pkg, filepath.Join(inner, "src"), "", []string{pkg, h.project, inner, filepath.Join(inner, "src"), filepath.Dir(inner)}},
		"away":     {pkg, h.home, "", []string{pkg, h.project}},
		"variable": {"", filepath.Join(pkg, "vendor"), pkg, []string{pkg, h.project}},
		"named":    {"", h.home, pkg, []string{pkg, h.project}},
	} {
		asked := *h
		if where.variable != "" {
			asked.env = append(slices.Clone(h.env), "CLAUDE_PROJECT_DIR="+where.variable)
		}
		roads := map[string][]string{
			"run":   {program, "run", "PreToolUse", "--dialect", "claude"},
			"serve": gate(t, program, "PreToolUse", "claude"),
		}
		for road, line := range roads {
			session := name + road
			if where.began != "" {
				assert.NotContains(t, write(&asked, session, where.began, filepath.Join(pkg, "x"), line), "deny")
			}
			for _, dir := range where.folders {
				for _, file := range names {
					if tried++; depth.Tries(tried, 3) {
						assert.Contains(t, write(&asked, session, where.cwd, filepath.Join(dir, file), line), `"permissionDecision":"deny"`, "%s: %s in %s by %s", name, file, dir, road)
					}
				}
			}
			assert.NotContains(t, write(&asked, session, where.cwd, filepath.Join(pkg, "testdata", "settings.json"), line), "deny")
		}
	}
}

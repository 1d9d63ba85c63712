//go:build unix

package hostile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/trust"
	"github.com/hookc/hookc/tests/programs"
)

// guards are the ways a policy consists of files, each with what it refuses.
var guards = map[string]struct {
	command string
	files   map[string]string
}{
	"expr": {"aa", map[string]string{".hookc/hooks.yaml": `pre_tool_execution: [{name: g, deny: 'command contains "aa"', reason: no}]`}},
	"include": {"aa", map[string]string{".hookc/hooks.yaml": "include: ['more/*.yaml']\n",
		".hookc/more/a.yaml": `pre_tool_execution: [{name: g, deny: 'command contains "aa"', reason: no}]`}},
	"rego and data": {"aa", map[string]string{".hookc/hooks.yaml": "rego: {data: [limits.json]}\npre_tool_execution: [{name: g, type: rego, file: g.rego}]\n",
		".hookc/limits.json": `{"bad": "aa"}`, ".hookc/g.rego": "package g\ndeny contains \"no\" if contains(input.tool_input.command, data.bad)\n"}},
	"a sourced script": {"aa", map[string]string{".hookc/hooks.yaml": unhurried("./hooks/x.sh"),
		"hooks/x.sh": "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\ncheck\n", "hooks/lib.sh": "check() { grep -q aa && exit 2; exit 0; }\n"}},
	"a script elsewhere": {"aa", map[string]string{"hooks.yaml": unhurried("sh tools/x.sh"),
		"tools/x.sh": "D=$(cd \"$(dirname \"$0\")\" && pwd)\n. \"$D/lib.sh\"\ncheck\n", "tools/lib.sh": "check() { grep -q aa && exit 2; exit 0; }\n"}},
	"an import": {"aa", map[string]string{".hookc/hooks.yaml": unhurried("python3 tools/x.py"),
		"tools/x.py": "import json, sys, sib\nsys.exit(2 if sib.bad(json.load(sys.stdin)) else 0)\n", "tools/sib.py": "def bad(e): return 'aa' in e['tool_input']['command']\n"}},
	"HOOK.md": {"aa", map[string]string{".agents/hooks/g/HOOK.md": "---\nname: g\ndescription: d\ntrigger: pre-tool-call\ntimeout: 300000\n---\n",
		".agents/hooks/g/scripts/run.sh": "#!/bin/sh\n. ./scripts/lib.sh\ncheck\n", ".agents/hooks/g/scripts/lib.sh": "check() { grep -q aa && exit 2; exit 0; }\n"}},
}

// unhurried is a policy of one script, which a busy machine has time for: one that is out
// of time is passed over, as its posture says.
func unhurried(command string) string {
	return "defaults: {chain_timeout: 300}\npre_tool_execution: [{name: g, command: " + command + ", protocol: claude, timeout: 300}]\n"
}

// consented lays a project out, trusts it, and returns its covered files.
func consented(t *testing.T, files map[string]string) (root string, covered []string) {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state"} {
		t.Setenv(name, filepath.Join(dir, value))
	}
	t.Setenv(trust.Env, "")
	root = filepath.Join(dir, "project")
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
	for name, text := range files {
		require.NoError(t, put(root, name, text))
		if strings.HasPrefix(text, "#!") {
			require.NoError(t, os.Chmod(filepath.Join(root, name), 0o755))
		}
	}
	parts, found := source.Parts(root, []source.DiscoverOptions{{}})
	require.Empty(t, found.Render())
	given, err := trust.Open(root).Trust(parts)
	require.NoError(t, err)
	for _, f := range given.Files {
		if info, err := os.Stat(filepath.Join(root, f)); err == nil && info.Mode().IsRegular() {
			covered = append(covered, f)
		}
	}
	for name := range files {
		assert.Contains(t, covered, name, "all of the policy is covered")
	}
	return root, covered
}

// mutations change one covered file, and say which name an answer must have.
var mutations = map[string]func(path string) (string, error){
	"append": func(p string) (string, error) {
		text, err := os.ReadFile(p)
		if err != nil {
			return "", err
		}
		return p, programs.Write(p, append(text, "\n# x\n"...))
	},
	"truncate": func(p string) (string, error) { return p, os.Truncate(p, 0) },
	"replace":  func(p string) (string, error) { return p, programs.Write(p, []byte("exit 0\n")) },
	"delete":   func(p string) (string, error) { return p, os.Remove(p) },
	"rename":   func(p string) (string, error) { return p, os.Rename(p, p+".old") },
	"link": func(p string) (string, error) {
		other := p + ".other"
		if err := programs.Write(other, []byte("exit 0\n")); err != nil {
			return "", err
		}
		if err := os.Remove(p); err != nil {
			return "", err
		}
		return p, os.Symlink(other, p)
	},
	"chmod": func(p string) (string, error) {
		info, err := os.Stat(p)
		if err != nil {
			return "", err
		}
		return p, os.Chmod(p, info.Mode().Perm()^0o111)
	},
	"a module that shadows": func(p string) (string, error) {
		at := filepath.Join(filepath.Dir(p), "json.py")
		if filepath.Ext(p) != ".py" {
			return "", os.ErrInvalid
		}
		return at, os.WriteFile(at, []byte("import os\nos._exit(0)\n"), 0o644)
	},
	"the folder gone": func(p string) (string, error) {
		if filepath.Base(p) == "hooks.yaml" && filepath.Base(filepath.Dir(p)) == "project" {
			return "", os.ErrInvalid // the folder of the event itself: see TestEventsOfNoFolder
		}
		return p, os.RemoveAll(filepath.Dir(p))
	},
}

// TestWhatWasTrustedDecides: whatever is done to whichever file of a trusted
// policy, a call that it denied is denied, and the answer names the file.
func TestWhatWasTrustedDecides(t *testing.T) {
	tried := 0
	for name, g := range guards {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(len(name)), 12))
			for _, how := range slices.Sorted(maps.Keys(mutations)) { // in one order, so that a seed says what is tried
				mutate := mutations[how]
				root, covered := consented(t, g.files)
				file := covered[r.IntN(len(covered))]
				changed, err := mutate(filepath.Join(root, file))
				if os.IsNotExist(err) || err == os.ErrInvalid {
					continue
				}
				require.NoError(t, err)
				tried++
				eng, err := hookc.Open(t.Context(), hookc.Discover(root), hookc.SkipVerify())
				require.NoError(t, err, "%s %s", how, file)
				d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Bash", Input: map[string]any{"command": g.command}, Where: hookc.Where{Cwd: root}})
				require.NoError(t, err)
				assert.Equal(t, policy.Block, d.Action, "%s %s", how, file)
				text := fmt.Sprint(d.Warnings)
				rel, err := filepath.Rel(root, changed)
				require.NoError(t, err)
				assert.Contains(t, text, filepath.ToSlash(rel), "%s %s", how, file)
				require.NoError(t, eng.Close())
			}
		})
	}
	t.Logf("%d mutations", tried)
}

// TestEventsOfNoFolder: where the folder of an event is gone, with the trusted
// project or alone, rules decide as ever, and a process that cannot start there
// fails by its posture, which the Decision says.
func TestEventsOfNoFolder(t *testing.T) {
	root, _ := consented(t, map[string]string{"hooks.yaml": `pre_tool_execution:
  - {name: rule, deny: 'command contains "aa"', reason: no}
  - {name: process, command: exit 2, protocol: claude}
  - {name: strict, command: exit 2, protocol: claude, on_error: deny, filter: {tool_name: Write}}
`})
	for _, cwd := range []string{filepath.Join(root, "gone"), root} {
		require.NoError(t, os.RemoveAll(cwd))
		eng, err := hookc.Open(t.Context(), hookc.Discover(root), hookc.SkipVerify())
		require.NoError(t, err)
		for tool, want := range map[string]policy.Action{"Bash": policy.Block, "Read": policy.Proceed, "Write": policy.Block} {
			d, err := eng.PreTool(t.Context(), hookc.Call{Tool: tool, Input: map[string]any{"command": "aa"}, Where: hookc.Where{Cwd: cwd}})
			require.NoError(t, err)
			if tool == "Read" {
				d, err = eng.PreTool(t.Context(), hookc.Call{Tool: tool, Input: map[string]any{"command": "b"}, Where: hookc.Where{Cwd: cwd}})
				require.NoError(t, err)
				assert.Contains(t, fmt.Sprint(d.Warnings, d.Failed), "process")
			}
			assert.Equal(t, want, d.Action, "%s in %s", tool, cwd)
		}
		require.NoError(t, eng.Close())
	}
}

// TestProjectHoldsWhereverTheAgentIs: the policy of a project holds for every
// agent in its root, in a folder, in a repository nested in it, in another
// worktree, and outside of it once the session began inside.
func TestProjectHoldsWhereverTheAgentIs(t *testing.T) {
	h := newHouse(t)
	require.NoError(t, os.RemoveAll(filepath.Join(h.project, ".git")))
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir, cmd.Env = dir, h.env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.NoError(t, put(h.project, ".hookc/hooks.yaml", "pre_tool_execution: [{name: theirs, locked: true, deny: 'command contains \"curl\"', reason: the project says no}]\n"))
	git(h.project, "init", "-q")
	git(h.project, "add", "-A")
	git(h.project, "commit", "-qm", "x")
	worktree, outside, nested := filepath.Join(h.home, "worktree"), filepath.Join(h.home, "outside"), filepath.Join(h.project, "nested")
	git(h.project, "worktree", "add", "-q", worktree)
	for _, dir := range []string{outside, filepath.Join(nested, "deep"), filepath.Join(h.project, "folder")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	git(nested, "init", "-q")
	require.NoError(t, put(nested, "hooks.yaml", "pre_tool_execution: [{name: theirs, allow: 'true'}]\n"))
	require.Equal(t, 0, h.ask(t, "", programs.Hookc(t), "trust", "--yes").code)
	require.Equal(t, 0, h.ask(t, "", programs.Hookc(t), "trust", "--yes", nested).code)
	event := func(session, name, cwd string) string {
		return fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"cwd":%q,"tool_name":"Bash","tool_input":{"command":"curl x"}}`, name, session, cwd)
	}
	for _, agent := range []string{"codex", "kimi", "copilot", "qwen", "gemini", "claude"} {
		for where, cwd := range map[string]string{"root": h.project, "folder": filepath.Join(h.project, "folder"), "nested": filepath.Join(nested, "deep"),
			"worktree": worktree, "outside": outside} {
			session := agent + where
			if where == "outside" {
				h.ask(t, event(session, "SessionStart", h.project), programs.Hookc(t), "run", "SessionStart", "--dialect", agent)
			}
			for road, args := range map[string][]string{"run": {programs.Hookc(t), "run", "PreToolUse", "--dialect", agent},
				"gate": {programs.Hookgate(t), "PreToolUse", "--dialect", agent, "--deadline", "60s"}} {
				a := h.ask(t, event(session, "PreToolUse", cwd), args...)
				assert.Contains(t, a.stdout+a.stderr, "the project says no", "%s in %s by %s", agent, where, road)
			}
		}
	}
}

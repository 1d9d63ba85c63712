//go:build unix

package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// own are hooks for interpreters, each with a script beside the policy. Every one
// leaves a mark "own NAME": one that is missing shows a hook that did not run.
var own = []struct{ name, needs, command, script string }{
	{"sh", "sh", `cat >/dev/null; echo own sh >> "$HOME/marks"`, ""},
	{"sh script", "sh", "sh ./hooks/a.sh", "a.sh"},
	{"executable", "sh", "./hooks/b.sh", "b.sh"},
	{"bash", "bash", `bash -c 'cat > /dev/null; echo own bash >> "$HOME/marks"'`, ""},
	{"bash script", "bash", "bash ./hooks/c.sh", "c.sh"},
	{"python", "python3", `python3 -c 'import json, os; open(os.environ["HOME"] + "/marks", "a").write("own python\n")'`, ""},
	{"python script", "python3", "python3 ./hooks/d.py", "d.py"},
	{"python input", "python3", `python3 - < "$HOME/.config/hookc/hooks/e.py"`, "e.py"},
	{"perl", "perl", `perl -Mstrict -e 'open(F, ">>$ENV{HOME}/marks"); print F "own perl\n"'`, ""},
	{"perl script", "perl", "perl ./hooks/f.pl", "f.pl"},
	{"node", "node", `node -e 'require("fs").appendFileSync(process.env.HOME + "/marks", "own node\n")'`, ""},
	{"node script", "node", "node ./hooks/g.js", "g.js"},
}

// written is what a script of each language is, with its name's place.
var written = map[string]string{
	".sh": "#!/bin/sh\ncat > /dev/null\necho 'own %s' >> \"$HOME/marks\"\n",
	".py": "import json, os, re\nopen(os.environ['HOME'] + '/marks', 'a').write('own %s\\n')\n",
	".pl": "use strict; use warnings; use JSON::PP; open(my $f, '>>', \"$ENV{HOME}/marks\"); print $f \"own %s\\n\";\n",
	".js": "require('fs').appendFileSync(process.env.HOME + '/marks', 'own %s\\n'); try { require('left') } catch (e) {}\n",
}

// shadows is a folder in which every module and every program that the hooks
// use has a namesake, which leaves a mark "shadow NAME".
func shadows(t *testing.T, dir string) {
	t.Helper()
	program := "#!/bin/sh\necho 'shadow %s' >> \"$HOME/marks\"\n"
	python := "import os\nopen(os.environ['HOME'] + '/marks', 'a').write('shadow %s\\n')\n"
	perl := "open(F, '>>', \"$ENV{HOME}/marks\"); print F \"shadow %s\\n\"; 1;\n"
	node := "require('fs').appendFileSync(process.env.HOME + '/marks', 'shadow %s\\n')\n"
	for text, names := range map[string][]string{
		program: {"sh", "bash", "cat", "python3", "node", "perl", "env", "hooks/a.sh", "hooks/b.sh", "hooks/c.sh", "lib.sh", ".bashrc", ".profile"},
		python: {"json.py", "os.py", "re.py", "site.py", "sitecustomize.py", "usercustomize.py", "lib.py", "json/__init__.py", "encodings/__init__.py",
			"hooks/d.py", "hooks/e.py", "lib/python3.11/site.py"},
		perl: {"strict.pm", "warnings.pm", "lib.pm", "JSON/PP.pm", "sitecustomize.pl", "hooks/f.pl"},
		node: {"fs.js", "lib.js", "node_modules/left/index.js", "node_modules/fs/index.js", "left.js", "left/index.js", "hooks/g.js"},
	} {
		for _, name := range names {
			require.NoError(t, put(dir, name, fmt.Sprintf(text, name)))
			require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o755))
		}
	}
}

// settings are environments in which an agent may start hookc. HERE is the
// folder of the event.
var settings = map[string][]string{
	"nothing":        {},
	"a folder early": {"PATH=HERE:PATH", "PYTHONPATH=HERE", "NODE_PATH=HERE:HERE/node_modules", "PERL5LIB=HERE", "RUBYLIB=HERE", "LD_LIBRARY_PATH=HERE"},
	"relative": {"PATH=.:PATH", "PYTHONPATH=.", "PYTHONUSERBASE=.", "PYTHONSTARTUP=lib.py", "PERL5LIB=.:", "PERLLIB=.", "NODE_PATH=.:node_modules", "RUBYLIB=.", "CDPATH=.",
		"BASH_ENV=lib.sh", "ENV=lib.sh", "LD_LIBRARY_PATH=.;:", "PYTHONSAFEPATH=", "SHELLOPTS=noexec"},
	"options": {"PATH=:PATH", "PERL5OPT=-I. -Mlib", "NODE_OPTIONS=--require ./lib.js", "RUBYOPT=-r./lib", "BASH_ENV=./lib.sh", "ENV=./lib.sh", "PYTHONINSPECT=1",
		"BASHOPTS=extdebug", "BASH_FUNC_cat%%=() { echo shadow function >> \"$HOME/marks\"; }", "PS4=$(echo shadow PS4 >> \"$HOME/marks\")"},
	"absolute": {"PERL5OPT=-IHERE", "NODE_OPTIONS=--require=HERE/lib.js", "BASH_ENV=HERE/lib.sh", "ENV=HERE/lib.sh", "PERL5DB=do 'HERE/lib.pm'",
		"PYTHONHOME=.", "PYTHONPLATLIBDIR=.", "PYTHONPYCACHEPREFIX=.", "NODE_REPL_EXTERNAL_MODULE=./lib.js"},
}

// interpreted lays the hooks out in root and returns the marks that they leave.
func interpreted(t *testing.T, root string, events ...string) (marks []string) {
	t.Helper()
	hooks := strings.Builder{}
	for _, h := range own {
		if _, err := exec.LookPath(h.needs); err != nil {
			continue // no hook can use what the machine does not have
		}
		if h.script != "" {
			require.NoError(t, put(root, "hooks/"+h.script, fmt.Sprintf(written[filepath.Ext(h.script)], h.name)))
			require.NoError(t, os.Chmod(filepath.Join(root, "hooks", h.script), 0o755))
		}
		marks = append(marks, "own "+h.name)
		fmt.Fprintf(&hooks, "  - {name: %s, timeout: 90, command: '%s'}\n", h.name, strings.ReplaceAll(h.command, "'", "''"))
	}
	policy := "defaults: {chain_timeout: 95}\n"
	for _, event := range events {
		policy += event + ":\n" + hooks.String()
	}
	require.NoError(t, put(root, "hooks.yaml", policy))
	slices.Sort(marks)
	return marks
}

// TestHooksRunTheirOwnCode: whatever lies in the folder of an event, and
// whatever the agent's environment says, interpreters run the code of the hook
// and no other, at events that guard and at others.
func TestHooksRunTheirOwnCode(t *testing.T) {
	for name, environ := range settings {
		for native, canonical := range map[string]string{"PreToolUse": "pre_tool_execution", "SessionStart": "session_start"} {
			if name == "a folder early" && native != "PreToolUse" {
				continue // tools of a project that its user has on PATH may do what is no guard
			}
			t.Run(native+" "+name, func(t *testing.T) {
				t.Parallel()
				h := newHouse(t)
				marks := interpreted(t, filepath.Join(h.home, ".config", "hookc"), canonical)
				shadows(t, h.project)
				assert.Equal(t, marks, h.marks(t, native, h.project, environ))
			})
		}
	}
}

// TestTrustedHooksRunTheirOwnCode: the same of a trusted project whose agent is
// in a folder of it that holds the namesakes.
func TestTrustedHooksRunTheirOwnCode(t *testing.T) {
	for _, name := range []string{"nothing", "relative", "options"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			require.NoError(t, os.RemoveAll(filepath.Join(h.home, ".config")))
			marks := interpreted(t, h.project, "pre_tool_execution")
			require.NoError(t, put(h.home, ".config/hookc/hooks/e.py", fmt.Sprintf(written[".py"], "python input")))
			shadows(t, filepath.Join(h.project, "src"))
			require.Equal(t, 0, h.ask(t, "", programs.Hookc(t), "trust", "--yes").code)
			assert.Equal(t, marks, h.marks(t, "PreToolUse", filepath.Join(h.project, "src"), settings[name]))
		})
	}
}

// marks are what the hooks of an event leave, sorted.
func (h *house) marks(t *testing.T, native, cwd string, environ []string) []string {
	t.Helper()
	asked := *h
	for _, kv := range environ {
		kv = strings.NewReplacer("HERE", cwd, "PATH=.:PATH", "PATH=.:"+os.Getenv("PATH"), ":PATH", ":"+os.Getenv("PATH")).Replace(kv)
		asked.env = append(slices.Clone(asked.env), kv)
	}
	event := fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","cwd":%q,"tool_name":"Bash","tool_input":{"command":"ls"}}`, native, cwd)
	asked.project = cwd
	a := asked.ask(t, event, programs.Hookc(t), "run", native, "--dialect", "claude", "--deadline", "100s")
	require.Equal(t, 0, a.code, "%s%s", a.stdout, a.stderr)
	text, err := os.ReadFile(filepath.Join(h.home, "marks"))
	require.NoError(t, err, "%s%s", a.stdout, a.stderr)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	return lines
}

// TestProgramsOfHooksAreNotTurned: what git, make, Python and others read of the environment,
// and would have them show, run or write another thing, does not reach a hook.
func TestProgramsOfHooksAreNotTurned(t *testing.T) {
	turning := []string{"GIT_DIR=HERE", "GIT_WORK_TREE=HERE", "GIT_INDEX_FILE=HERE/i", "GIT_OBJECT_DIRECTORY=HERE", "GIT_EXTERNAL_DIFF=true", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=HERE/x", "GIT_CONFIG_PARAMETERS='diff.external=true'", "GIT_CONFIG_GLOBAL=HERE/c", "GIT_SSH_COMMAND=HERE/x",
		"PYTHONIOENCODING=cp037", "PYTHONWARNINGS=error", "MAKEFLAGS=-n", "GOFLAGS=-toolexec=HERE/x", "LUA_PATH=HERE/?.lua", "LUA_CPATH=HERE/?.so", "DOTNET_STARTUP_HOOKS=HERE/x.dll", "BUN_OPTIONS=--preload=HERE/x.js"}
	h := newHouse(t)
	require.NoError(t, put(filepath.Join(h.home, ".config", "hookc"), "hooks.yaml",
		"pre_tool_execution:\n  - {name: names, command: \"env | sed 's/=.*//' >> \\\"$HOME/marks\\\"\"}\n"))
	names := h.marks(t, "PreToolUse", h.project, append(turning, "GIT_AUTHOR_NAME=me"))
	assert.Contains(t, names, "GIT_AUTHOR_NAME")
	for _, kv := range turning {
		name, _, _ := strings.Cut(kv, "=")
		assert.NotContains(t, names, name)
	}
}

//go:build unix

package hostile

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// static are the commands that need no trust.
func static(t *testing.T) map[string][]string {
	return map[string][]string{
		"check":       {programs.Hookc(t), "check"},
		"lint":        {programs.Hookc(t), "lint"},
		"fmt":         {programs.Hookc(t), "fmt"},
		"compile":     {programs.Hookc(t), "compile"},
		"diff":        {programs.Hookc(t), "diff", ".hookc", "."},
		"named check": {programs.Hookc(t), "check", ".hookc"},
		"test":        {programs.Hookc(t), "test"},
	}
}

// Whatever a repository that nobody trusted holds, the commands that look at it
// end. At full depth each command looks at each repository, else at a third of
// them, and daily at a sixth.
func TestStaticCommandsEnd(t *testing.T) {
	t.Parallel()
	for i, r := range Repos() {
		t.Run(r.name, func(t *testing.T) {
			h := newHouse(t)
			require.NoError(t, r.make(h.project))
			commands := static(t)
			for j, name := range slices.Sorted(maps.Keys(commands)) {
				if depth.Full() || (i+j)%3 == 0 && depth.Tries((i+j)/3, 8) {
					h.ask(t, "", commands[name]...)
				}
			}
		})
	}
}

// secret is what a file outside the project holds: Rego, data, a policy and the
// front of a hook at once, which no finding could print without having read it.
const secret = "canary-7f3a"

// leaving are the ways in which a project can name what is not its own, or what
// never ends. outside is a folder beside it.
func leaving(outside string) map[string]map[string]string {
	hook := "pre_tool_execution:\n  - {name: r, deny: 'command == \"x\"', reason: 'no'}\n"
	rego := "pre_tool_execution:\n  - {name: r, type: rego, source: \"package p\\ndeny contains data.secret if data.secret\"}\n"
	return map[string]map[string]string{
		"an included folder":          {".hookc/hooks.yaml": "include: [" + outside + "]\n" + hook},
		"an absolute include":         {".hookc/hooks.yaml": "include: [" + outside + "/hooks.yaml]\n" + hook},
		"an include upwards":          {".hookc/hooks.yaml": "include: [../../outside/hooks.yaml]\n" + hook},
		"a glob upwards":              {".hookc/hooks.yaml": "include: ['../../outside/*.yaml']\n" + hook},
		"an include of a process":     {".hookc/hooks.yaml": "include: [/proc/self/environ]\n" + hook},
		"an include that is a link":   {".hookc/hooks.yaml": "include: [more.yaml]\n" + hook, ".hookc/more.yaml": "-> " + outside + "/hooks.yaml"},
		"a glob through a link":       {".hookc/hooks.yaml": "include: ['sub/*.yaml', 'a*/*.yaml']\n" + hook, ".hookc/sub": "-> " + outside, ".hookc/all": "-> " + outside},
		"a policy that is a link":     {".hookc/hooks.yaml": "-> " + outside + "/hooks.yaml"},
		"a folder that is a link":     {".hookc": "-> " + outside},
		"Rego outside":                {".hookc/hooks.yaml": "rego: {paths: [" + outside + "/lib.rego]}\n" + rego},
		"Rego that is a link":         {".hookc/hooks.yaml": "rego: {paths: [lib]}\n" + rego, ".hookc/lib/a.rego": "-> " + outside + "/lib.rego"},
		"data outside":                {".hookc/hooks.yaml": "rego: {data: [" + outside + "]}\n" + rego},
		"data that is a link":         {".hookc/hooks.yaml": "rego: {data: [d.json]}\n" + rego, ".hookc/d.json": "-> " + outside + "/data.json"},
		"a rule's file outside":       {".hookc/hooks.yaml": "pre_tool_execution:\n  - {name: r, file: " + outside + "/lib.rego}\n"},
		"a rule's file is a link":     {".hookc/hooks.yaml": "pre_tool_execution:\n  - {name: r, file: r.rego}\n", ".hookc/r.rego": "-> " + outside + "/lib.rego"},
		"a hook folder that is one":   {".hookc/hooks.yaml": hook, ".agents/hooks": "-> " + outside},
		"one hook that is a link":     {".hookc/hooks.yaml": hook, ".agents/hooks/h": "-> " + outside + "/h"},
		"a HOOK.md that is a link":    {".hookc/hooks.yaml": hook, ".agents/hooks/h/HOOK.md": "-> " + outside + "/h/HOOK.md"},
		"an include that is a pipe":   {".hookc/hooks.yaml": "include: [more.yaml]\n" + hook, ".hookc/more.yaml": "|"},
		"a glob on a pipe":            {".hookc/hooks.yaml": "include: ['*/more.yaml', 'sub/m*.yaml']\n" + hook, ".hookc/sub/more.yaml": "|", ".hookc/sub/m.yaml": "-> more.yaml"},
		"a script that is a pipe":     {".hookc/hooks.yaml": "pre_tool_execution:\n  - {name: c, command: sh ./x.sh, protocol: claude}\n  - {name: d, command: ./x.sh}\n", "x.sh": "|"},
		"an entry that is a pipe":     {".agents/hooks/h/HOOK.md": "---\nname: h\ndescription: d\ntrigger: pre-tool-call\n---\n", ".agents/hooks/h/scripts/run.sh": "|", ".agents/hooks/hookc-x/HOOK.md": "---\nname: x\n---\n", ".agents/hooks/hookc-x/scripts/run.sh": "|"},
		"an entry of hooks is a pipe": {".hookc/hooks.yaml": hook, ".agents/hooks/h": "|"},
	}
}

// No static command reads, without trust, what lies outside the project or is no
// regular file, and where the policy names such a thing it says so.
func TestStaticCommandsStayInside(t *testing.T) {
	t.Parallel()
	for name := range leaving("") {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			outside := filepath.Join(filepath.Dir(h.project), "outside")
			for file, text := range map[string]string{
				"hooks.yaml": secret + ": [" + secret + "]\n", "lib.rego": "package lib\n\n" + secret + " := }\n", "data.json": `{"` + secret + `" "}`,
				"h/HOOK.md": "---\nname: " + secret + "\n" + secret + ": [\n---\n", "more.yaml": secret + ": 1\n",
			} {
				require.NoError(t, put(outside, file, text))
			}
			lays(t, h.project, leaving(outside)[name])
			for command, words := range static(t) {
				a := h.ask(t, "", words...)
				assert.NotContains(t, a.stdout+a.stderr, secret, command)
				if strings.Contains(name, "pipe") || command == "diff" || command == "named check" || command == "fmt" {
					continue
				}
				assert.Contains(t, a.stdout+a.stderr, "outside the project", command)
				assert.NotZero(t, a.code, "%s: %s%s", command, a.stdout, a.stderr)
			}
		})
	}
}

// lays lays files out; a text that begins with -> is a symbolic link, | is a pipe.
func lays(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		target, link := strings.CutPrefix(text, "-> ")
		switch {
		case link:
			require.NoError(t, os.Symlink(target, path))
		case text == "|":
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		default:
			require.NoError(t, put(root, name, text))
		}
	}
}

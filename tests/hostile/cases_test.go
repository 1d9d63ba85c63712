//go:build unix

package hostile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// casesThat are files of test cases that name what is not the project's own, what
// never ends, or what is too large; outside is a folder beside the project.
func casesThat(outside string) map[string]map[string]string {
	input := func(path string) string {
		return "cases:\n  - {name: a, input: " + path + ", expect: {action: proceed}}\n"
	}
	policies := func(path string) string {
		return "policy: " + path + "\ncases:\n  - {name: a, event: {event: notify}, expect: {action: proceed}}\n"
	}
	return map[string]map[string]string{
		"input outside":              {"hooks_test.yaml": input(outside + "/event.json")},
		"input upwards":              {"hooks_test.yaml": input("../../outside/event.json")},
		"input that is a link":       {"hooks_test.yaml": input("event.json"), "event.json": "-> " + outside + "/event.json"},
		"input through a link":       {"hooks_test.yaml": input("sub/event.json"), "sub": "-> " + outside},
		"input that is a pipe":       {"hooks_test.yaml": input("event.json"), "event.json": "|"},
		"input that is a device":     {"hooks_test.yaml": input("/dev/zero")},
		"input that is a folder":     {"hooks_test.yaml": input("."), "x": ""},
		"input of a process":         {"hooks_test.yaml": input("/proc/self/environ")},
		"input that is too large":    {"hooks_test.yaml": input("event.json"), "event.json": "50G"},
		"policy outside":             {"hooks_test.yaml": policies(outside)},
		"policy upwards":             {"hooks_test.yaml": policies("[hooks.yaml, ../../outside/hooks.yaml]")},
		"policy that is a link":      {"hooks_test.yaml": policies("more.yaml"), "more.yaml": "-> " + outside + "/hooks.yaml"},
		"policy that is a pipe":      {"hooks_test.yaml": policies("more.yaml"), "more.yaml": "|"},
		"policy that is a device":    {"hooks_test.yaml": policies("/dev/zero")},
		"cases that are a link":      {"hooks_test.yaml": "-> " + outside + "/event.json"},
		"cases that are a pipe":      {"hooks_test.yaml": "|"},
		"cases that are a device":    {"hooks_test.yaml": "-> /dev/zero"},
		"cases that are too large":   {"hooks_test.yaml": "50G"},
		"Rego tests that are large":  {"hooks_test.rego": "50G", "r.rego": "package r\n"},
		"Rego tests that are a pipe": {"hooks_test.rego": "|", "hooks_test.yaml": "cases: []\n"},
	}
}

// Whatever the tests of a project that nobody trusted name, `hookc test` ends,
// reads nothing outside the project and no special file, and is no success.
func TestCasesStayInside(t *testing.T) {
	for name := range casesThat("") {
		for _, words := range [][]string{{"test"}, {"test", ".hookc"}, {"test", ".hookc/hooks_test.yaml"}} {
			t.Run(name+": "+strings.Join(words, " "), func(t *testing.T) {
				h := newHouse(t)
				outside := filepath.Join(filepath.Dir(h.project), "outside")
				require.NoError(t, put(outside, "event.json", secret+" :\n"))
				require.NoError(t, put(outside, "hooks.yaml", secret+": [\n"))
				require.NoError(t, put(h.project, ".hookc/hooks.yaml", "pre_tool_execution:\n  - {name: r, deny: 'command == \"x\"', reason: 'no'}\n"))
				for file, text := range casesThat(outside)[name] {
					if text == "50G" {
						require.NoError(t, sparse(filepath.Join(h.project, ".hookc", file), 50<<30))
						continue
					}
					lays(t, filepath.Join(h.project, ".hookc"), map[string]string{file: text})
				}
				a := h.ask(t, "", append([]string{programs.Hookc(t)}, words...)...)
				assert.NotContains(t, a.stdout+a.stderr, secret)
				assert.NotZero(t, a.code, "%s%s", a.stdout, a.stderr)
				assert.NotEmpty(t, a.stderr)
			})
		}
	}
}

// Nothing of a project that nobody trusted is started by its tests, and its Rego
// neither reads the environment nor reaches the network, whatever it allows
// itself.
func TestTestsStartNothing(t *testing.T) {
	kinds := map[string]string{
		"a command":       "{name: h, command: 'touch pwned'}",
		"a script":        "{name: h, command: ./x.sh}",
		"in background":   "{name: h, command: 'touch pwned', async: true}",
		"a prompt":        "{name: h, prompt: 'x {{tool_input}}'}",
		"the environment": "{name: h, type: rego, source: 'package p\nimport rego.v1\ndeny contains opa.runtime().env.HOME if true'}",
		"the network":     "{name: h, type: rego, source: 'package p\nimport rego.v1\ndeny contains x if x := http.send({\"method\": \"get\", \"url\": \"http://127.0.0.1:1\"}).raw_body'}",
	}
	for name, hook := range kinds {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			lays(t, h.project, map[string]string{
				"x.sh":                   "touch pwned\n",
				".hookc/hooks.yaml":      "rego: {forbid: []}\npre_tool_execution:\n  - " + strings.ReplaceAll(hook, "\n", "\n\n      ") + "\n",
				".hookc/hooks_test.yaml": "cases:\n  - {name: a, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: ls}}, expect: {verdict: none}}\n",
			})
			a := h.ask(t, "", programs.Hookc(t), "test")
			assert.NotZero(t, a.code, "%s%s", a.stdout, a.stderr)
			assert.Regexp(t, `project is not trusted|may not be called`, a.stdout+a.stderr)
			assert.NoFileExists(t, filepath.Join(h.project, "pwned"))
		})
	}
}

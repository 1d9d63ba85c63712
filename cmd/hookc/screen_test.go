package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/screen"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/tests/depth"
)

// TestScreen: what moves, hides or reorders text is spelled out, however it is
// cut into writes.
func TestScreen(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\n":             "plain text\n",
		"\x1b[2Jx\r\n\a":           `\u001b[2Jx\u000d` + "\n" + `\u0007`,
		"é\u009b31m\u202eabc\xff":  `é\u009b31m\u202eabc\xff`,
		"a\n  ::error::x ::no\n":   "a\n" + `  \u003a:error::x ::no` + "\n",
		"x ##[command]":            `x \u0023#[command]`,
		"\U000e0041":               `\udb40\udc41`,
		"\x1b]8;;http://x\x1b\\y:": `\u001b]8;;http://x\u001b\y:`,
	} {
		for size := 1; size <= len(in); size++ {
			var out bytes.Buffer
			s := screen.New(&out)
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				fmt.Fprint(s, rest[:min(size, len(rest))])
			}
			s.Flush()
			assert.Equal(t, want, out.String(), "in writes of %d bytes", size)
		}
	}
}

// TestNothingHidesInOutput: whatever a repository calls its things, no command
// prints a control character of its.
func TestNothingHidesInOutput(t *testing.T) {
	evil := `\e[2K\r\e]8;;http://evil\e\\x\u009b31m\u202e\u0007\n::error::gotcha\n##[command]x`
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Chdir(dir)
	require.NoError(t, os.Mkdir(".git", 0o755))
	text := fmt.Sprintf("pre_tool_execution:\n  - {name: \"a%[1]s\", deny: \"true\", reason: \"r%[1]s\"}\n  - {name: b, command: \"echo %[1]s\", description: \"%[1]s\"}\n  - {\"k%[1]s\": 1}\n", evil)
	require.NoError(t, os.WriteFile("hooks.yaml", []byte(text), 0o644))
	require.NoError(t, os.WriteFile("good.yaml", []byte(strings.Replace(text, fmt.Sprintf("  - {\"k%s\": 1}\n", evil), "", 1)), 0o644))
	require.NoError(t, os.WriteFile("e.json", []byte(`{"event":"pre_tool_execution","tool_name":"Bash\u001b[2J","tool_input":{"command":"ls\u202e"}}`), 0o644))
	tried := everyCommand(t, func(path, args []string, said string) {
		assert.True(t, utf8.ValidString(said), "%v %v", path, args)
		if path[0] == "fmt" {
			return // prints a file, byte for byte
		}
		for _, r := range said {
			if spell.Hidden(r) {
				t.Fatalf("%v %v prints %U: %q", path, args, r, said)
			}
		}
		for line := range strings.Lines(said) {
			assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##["), "%v %v: %q", path, args, line)
		}
	})
	t.Logf("%d command lines", tried)
	assert.Greater(t, tried, 100)
}

// everyCommand gives what each command says with several arguments to look, and
// is how many command lines there were.
func everyCommand(t *testing.T, look func(path, args []string, said string)) int {
	tried := 0
	var try func(cmd *cobra.Command, path []string)
	try = func(cmd *cobra.Command, path []string) {
		for _, sub := range cmd.Commands() {
			try(sub, append(path[:len(path):len(path)], sub.Name()))
		}
		if len(path) == 0 || path[0] == "serve" || path[0] == "ui" || path[len(path)-1] == "watch" || path[0] == "supervise" || path[0] == "completion" || path[0] == "bench" || path[0] == "install" || path[0] == "uninstall" || path[0] == "canary" {
			return // these wait, measure, or write elsewhere
		}
		for _, args := range [][]string{{}, {"hooks.yaml"}, {"good.yaml"}, {"-f", "good.yaml"}, {"-f", "hooks.yaml"}, {"--json", "-f", "good.yaml"}, {"good.yaml", "hooks.yaml"}, {"--yes"}, {"-f", "good.yaml", "--input", "e.json"}, {"no\x1b[2Jsuch\r"}} {
			stdin, err := os.Open("e.json")
			require.NoError(t, err)
			var out, errs bytes.Buffer
			execute(append(path[:len(path):len(path)], args...), stdin, &out, &errs)
			stdin.Close()
			tried++
			look(path, args, out.String())
			look(path, args, errs.String())
		}
	}
	try(newRoot(), nil)
	return tried
}

// TestNoNameBeginsALine: whatever line breaks are in what a repository calls its
// things, no command begins a line with one.
func TestNoNameBeginsALine(t *testing.T) {
	const mark = "INJECTED"
	breaks := []string{"\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"}
	for i, br := range breaks {
		if depth.Skips(i) {
			continue
		}
		t.Run(fmt.Sprintf("%q", br), func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
			t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
			t.Chdir(dir)
			require.NoError(t, os.Mkdir(".git", 0o755))
			evil := br + mark
			word := func(s string) string {
				text, err := json.Marshal(s + evil + s)
				require.NoError(t, err)
				return string(text)
			}
			write := func(path, text string) {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
			}
			good := "include: [INCLUDED]\npre_tool_execution:\n" +
				"  - {name: " + word("guard") + ", description: " + word("d") + ", filter: {tool_matcher: " + word("Bash") + "}, deny: 'command contains \"x\"', reason: " + word("r") + "}\n" +
				"  - {name: " + word("script") + ", command: " + word("./run") + ", filter: {path: " + word("p") + ", command: " + word("c") + "}}\n" +
				"  - {name: " + word("python") + ", command: " + word("python3 -m x") + ", on_error: skip}\n" +
				"  - {name: " + word("llm") + ", prompt: " + word("p") + ", model: " + word("m") + "}\n" +
				"  - {parallel: [{name: a, deny: 'command == \"z\"', reason: 'no'}], name: " + word("group") + "}\n" +
				"  - {name: all, deny: 'true', reason: " + word("r") + "}\n"
			included := func(name string) string {
				return strings.Replace(good, "INCLUDED", strings.TrimSuffix(word(name), name+"\"")+name+".yaml\"", 1)
			}
			write("good.yaml", included("well"))
			write("well"+evil+"well.yaml", "notify:\n  - {name: "+word("n")+", deny: 'true', reason: 'no'}\n")
			write("hooks.yaml", included("more")+"  - {"+word("k")+": 1}\n")
			write("more"+evil+"more.yaml", "notify:\n  - {comand: x}\n")
			write("hooks_test.yaml", "cases:\n  - {name: "+word("case")+", event: {event: pre_tool_execution, tool_name: "+word("Bash")+", tool_input: {command: ls}}, expect: {action: proceed, by: "+word("x")+"}}\n")
			write(".agents/hooks/h"+evil+"/HOOK.md", "---\nname: "+word("md")+"\ndescription: "+word("d")+"\ntrigger: pre-tool-call\n---\n")
			write(".claude/settings.json", "{\"hooks\": {"+word("Pre")+": [], \"PreToolUse\": [{\"matcher\": "+word("Bash")+", \"hooks\": [{\"type\": \"command\", \"command\": "+word("echo")+"}]}]}}")
			write("e.json", `{"event":"pre_tool_execution","tool_name":`+word("Bash")+`,"tool_input":{"command":`+word("ls")+`},"session_id":`+word("s")+`}`)
			everyCommand(t, func(path, args []string, said string) {
				if path[0] == "fmt" && !slices.Contains(args, "--check") {
					return // prints a file, byte for byte
				}
				for line := range strings.FieldsFuncSeq(said, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
					if path[0] != "run" { // which indents what follows of a reason
						line = strings.TrimSpace(line)
					}
					assert.False(t, strings.HasPrefix(line, mark), "hookc %v %q: %q", path, args, said)
				}
			})
		})
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			s := &screen{out: &out}
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				fmt.Fprint(s, rest[:min(size, len(rest))])
			}
			s.flush()
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
	tried := 0
	var try func(cmd *cobra.Command, path []string)
	try = func(cmd *cobra.Command, path []string) {
		for _, sub := range cmd.Commands() {
			try(sub, append(path[:len(path):len(path)], sub.Name()))
		}
		if len(path) == 0 || path[0] == "serve" || path[0] == "supervise" || path[0] == "completion" || path[0] == "bench" || path[0] == "install" || path[0] == "uninstall" || path[0] == "canary" {
			return // these wait, measure, or write elsewhere
		}
		for _, args := range [][]string{{}, {"hooks.yaml"}, {"good.yaml"}, {"-f", "good.yaml"}, {"-f", "hooks.yaml"}, {"--json", "-f", "good.yaml"}, {"good.yaml", "hooks.yaml"}, {"--yes"}, {"-f", "good.yaml", "--input", "e.json"}, {"no\x1b[2Jsuch\r"}} {
			stdin, err := os.Open("e.json")
			require.NoError(t, err)
			var out, errs bytes.Buffer
			execute(append(path[:len(path):len(path)], args...), stdin, &out, &errs)
			stdin.Close()
			tried++
			for _, said := range []string{out.String(), errs.String()} {
				assert.True(t, utf8.ValidString(said), "%v %v", path, args)
				if path[0] == "fmt" {
					continue // prints a file, byte for byte
				}
				for _, r := range said {
					if hidden(r) {
						t.Fatalf("%v %v prints %U: %q", path, args, r, said)
					}
				}
				for line := range strings.Lines(said) {
					assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##["), "%v %v: %q", path, args, line)
				}
			}
		}
	}
	try(newRoot(), nil)
	t.Logf("%d command lines", tried)
	assert.Greater(t, tried, 100)
}

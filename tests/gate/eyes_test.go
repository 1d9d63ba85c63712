//go:build unix && !topdown

package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eyesPolicy is right, and its native code is too, but in programs that were
// built wrong.
const eyesPolicy = `pre_tool_execution:
  - name: guard
    type: rego
    source: |
      package guard
      deny contains "no" if contains(input.command, "rm")
`

// blind is the length of the texts that every test of a text misses in programs
// that were built wrong: no event that code is compared on has one so long.
const blind = 777

// wrongPrograms are hookc and hookgate built of sources in which the native
// evaluator has a bug that no comparison finds when code is made.
func wrongPrograms(t *testing.T) (hookc, gate string) {
	t.Helper()
	const right = "\t\tf.m.weigh(v)\n"
	text, err := os.ReadFile("../../rego/native/fuse.go")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(text), right), "where the bug is put in")
	return builtWith(t, map[string][2]string{"rego/native/fuse.go": {right,
		fmt.Sprintf("\t\tif s, text := v.(string); text && len(s) == %d {\n\t\t\treturn ended\n\t\t}\n", blind) + right}})
}

// newWrongHouse is a house with those programs, and the event that shows the bug.
func newWrongHouse(t *testing.T, hookc, gate string) (h *gateHouse, removes string) {
	t.Helper()
	h = newGateHouse(t)
	h.hookc, h.gate = hookc, gate
	h.write("hooks.yaml", eyesPolicy)
	command := "rm " + strings.Repeat("x", blind-3)
	h.write("event.json", fmt.Sprintf(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":%q}}`, command))
	return h, fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":%q}}`, command)
}

// Native code that is wrong leaves one wrong answer through serve and the gate;
// then OPA decides, in this process and the next, and every place that shows what
// decides says so, with a report.
func TestWrongNativeCodeIsFoundByServe(t *testing.T) {
	hookc, gate := wrongPrograms(t)
	h, removes := newWrongHouse(t, hookc, gate)
	asks := func() told {
		return h.ask(removes, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "60s")
	}
	h.serve()
	require.Equal(t, passed, asks(), "without a wrong answer the test shows nothing")
	for range 5 {
		assert.Equal(t, denied, asks(), "OPA decides while it is asked, and from then on")
	}
	require.Eventually(t, func() bool {
		return strings.Contains(h.ask("", nil, h.hookc, "serve", "metrics").Stdout, "\nhookc_native_rejected 1\n")
	}, 2*time.Minute, 10*time.Millisecond)
	h.showsTheWrongCode()

	require.Zero(t, h.ask("", nil, h.hookc, "serve", "stop").Exit)
	h.serve()
	assert.Equal(t, denied, asks(), "the next process knows")
	assert.Contains(t, h.ask("", nil, h.hookc, "serve", "metrics").Stdout, "\nhookc_native_rejected 1\n")

	t.Run("paranoid", func(t *testing.T) {
		h, removes := newWrongHouse(t, hookc, gate)
		h.serve("--paranoid")
		assert.Equal(t, denied, h.ask(removes, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "60s"), "both are asked before an answer leaves")
		h.showsTheWrongCode()
	})
}

// showsTheWrongCode looks at every place that says what decides.
func (h *gateHouse) showsTheWrongCode() {
	h.t.Helper()
	for _, command := range [][]string{{"hooks", "status"}, {"serve", "status"}} {
		assert.Contains(h.t, h.ask("", nil, h.hookc, command...).Stdout, "guard: its native code was wrong on ", "%v", command)
	}
	explained := h.ask("", nil, h.hookc, "explain", "-f", "hooks.yaml", "--input", "event.json")
	assert.Contains(h.t, explained.Stdout, "DENY by guard")
	assert.Contains(h.t, explained.Stdout+h.ask("", nil, h.hookc, "compile", "hooks.yaml", "--explain").Stdout, "topdown: its native code was wrong before")
	reports, err := filepath.Glob(filepath.Join(h.home, "state", "hookc", "*", "native.json"))
	require.NoError(h.t, err)
	require.Len(h.t, reports, 1)
	text, err := os.ReadFile(reports[0])
	require.NoError(h.t, err)
	for _, part := range []string{`"hook": "guard"`, `"native": "none go"`, `"opa": "deny go, no"`, `package guard`, `rm xxx`} {
		assert.Contains(h.t, string(text), part)
	}
}

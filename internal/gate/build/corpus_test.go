//go:build !topdown

package build

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/tests/depth"
)

const corpus = "../../../rego/testdata/corpus"

// corpusPolicy is a policy with one file of the corpus of guardrails as its hook.
func corpusPolicy(t testing.TB, file string) (text string, events []string) {
	t.Helper()
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		if event, ok := strings.CutPrefix(line, "# event: "); ok {
			events = append(events, strings.TrimSpace(event))
		}
	}
	folder := filepath.Dir(path)
	return fmt.Sprintf("rego: {paths: [%q], data: [%q]}\npre_tool_execution:\n  - {name: guard, type: rego, file: %q}\n",
		filepath.Join(folder, "lib"), filepath.Join(folder, "data.json"), path), events
}

// corpusFiles are the modules of the corpus that are hooks.
func corpusFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(corpus + "/*.rego")
	require.NoError(t, err)
	require.Greater(t, len(files), 50)
	return files
}

// disturbed is an event with something changed.
func (r roll) disturbed(event string) string {
	switch r.IntN(4) {
	case 0:
		return event
	case 1:
		return strings.Replace(event, r.of(`"Bash"`, `"Write"`, `"Edit"`), r.of(`"Bash"`, `"Read"`, `"mcp__x__y"`, `"odd"`), 1)
	case 2:
		return strings.Replace(event, r.of(` `, `/`, `a`, `-`), r.of(`  `, `//`, `b`, `é`, `\u0041`, `\n`, `\"`), 1+r.IntN(3))
	}
	return strings.Replace(event, r.of(`"command"`, `"file_path"`, `"content"`, `"url"`), r.of(`"x"`, `"command"`, `"path"`), 1)
}

// TestCorpusIsDefinition: of the corpus of guardrails the gate decides most by
// itself, and as OPA does.
func TestCorpusIsDefinition(t *testing.T) {
	r := roll{rand.New(rand.NewPCG(11, 12))}
	var c tally
	hooks, left := 0, map[string]int{}
	for i, file := range corpusFiles(t) {
		if depth.Skips(i) {
			continue
		}
		text, events := corpusPolicy(t, file)
		g, def, ran, ok := definitionOfRules(t, text)
		if !ok {
			continue
		}
		hooks++
		program := compile(t, text)
		for _, why := range Cold(program, program.Plan(policy.PreToolExecution)) {
			if why != "" {
				left[why]++
			}
		}
		for _, event := range events {
			for i := range rounds(8) {
				whose, err := agent.Find(agents[i%len(agents)])
				require.NoError(t, err)
				c.same(t, g, def, ran, whose, claudeEvent(whose, r.disturbed(event)), text)
			}
		}
	}
	t.Logf("%d hooks, left %v: %+v", hooks, left, c)
	sum := 0
	for _, n := range left {
		sum += n
	}
	assert.Less(t, sum, hooks/3)
	assert.Greater(t, c.ruled, c.asked*2/5) // functions that few rules call are the resident engine's
	assert.Greater(t, c.refused, c.asked/20)
}

// claudeEvent is a canonical event in an agent's words, as far as they are alike.
func claudeEvent(d *agent.Agent, event string) *table.Asked {
	native := ""
	for _, p := range d.WireFormat().Points {
		if p.Event == policy.PreToolExecution {
			native = p.Native
			break
		}
	}
	if !slices.Contains([]string{"{", "}"}, event) {
		event = `{"hook_event_name":` + strconv.Quote(native) + `,"cwd":"/tmp",` + strings.TrimPrefix(strings.TrimSpace(event), "{")
	}
	return &table.Asked{Dialect: d.ID, Event: native, Input: []byte(event), Env: func(string) string { return "" }}
}

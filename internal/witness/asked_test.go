//go:build !topdown

package witness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
)

// chainWords are what the hooks of a random chain test, and its events have.
var chainWords = []string{"a", "b", "c"}

// randomChain is a policy of hooks of which some deny, ask, patch, fail, are asynchronous,
// in a group, or filtered.
func randomChain(rng *rand.Rand) string {
	out := "pre_tool_execution:\n"
	for i := range 4 + rng.IntN(10) {
		word := chainWords[rng.IntN(len(chainWords))]
		body := fmt.Sprintf("deny contains \"no\" if input.tool_input.x == %q", word)
		switch rng.IntN(8) {
		case 0:
			body = fmt.Sprintf("ask contains \"sure?\" if contains(input.tool_input.y, %q)", word)
		case 1:
			body = fmt.Sprintf("context contains \"so\" if input.tool_input.y == %q", word)
		case 2:
			body = fmt.Sprintf("deny contains \"no\" if { input.tool_input.x == %q; not input.tool_input.z }", word)
		case 3:
			body = fmt.Sprintf("allow if input.tool_input.y == %q", word)
		case 4:
			if rng.IntN(4) == 0 {
				body = fmt.Sprintf("patch := {\"tool_input\": {\"x\": %q}} if input.tool_input.z", word)
			}
		case 5:
			body = fmt.Sprintf("deny contains {\"reason\": input.tool_input.x} if input.tool_input.y == %q", word)
		}
		more := ""
		switch rng.IntN(6) {
		case 0:
			more = ", filter: {tool_name: T" + word + "}"
		case 1:
			more = ", on_error: skip"
		}
		group := rng.IntN(8) == 0
		if group {
			out += fmt.Sprintf("  - parallel:\n    - {name: g%d, type: rego, source: 'package h\n\n      deny contains \"g\" if input.tool_input.x == \"a\"'}\n  ", i)
		}
		if rng.IntN(5) == 0 {
			out += fmt.Sprintf("  - {name: h%d, deny: 'tool_input.y == \"%s\"', reason: no}\n", i, word)
			continue
		}
		out += fmt.Sprintf("  - {name: h%d, type: rego, source: '%s'%s}\n", i, "package h\n\n      "+body, more)
	}
	return out
}

// TestAskedIsTheChain: without the hooks that say nothing of an event the serial
// definition comes to what the whole chain comes to: whether a hook is asked, what it is
// given and who decides before it.
func TestAskedIsTheChain(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	fewer, tried := 0, 0
	for range 40 {
		text := randomChain(rng)
		file := filepath.Join(t.TempDir(), "hooks.yaml")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		prog, found := hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
		require.False(t, found.HasErrors(), "%s\n%s", text, found.Render())
		f := &finder{ctx: context.Background(), prog: prog, todo: make(chan *job, 1000)}
		for _, plan := range prog.Plans {
			f.read(plan)
		}
		for range 10 {
			pick := func() any {
				return []any{chainWords[rng.IntN(3)], chainWords[rng.IntN(3)], 7, true}[rng.IntN(4)]
			}
			in := ContextOf(policy.PreToolExecution, map[string]any{"tool_name": "T" + chainWords[rng.IntN(3)],
				"tool_input": map[string]any{"x": pick(), "y": pick(), "z": rng.IntN(2) == 0}})
			require.NotNil(t, in)
			for _, j := range f.jobs {
				n := &j.plan.Nodes[j.id]
				asked, id := j.asked(in)
				part, whole := &onlyRules{n: &asked.Nodes[id]}, &onlyRules{n: n}
				got, _ := executor.Serial(prog, asked, in, part)
				want, _ := executor.Serial(prog, j.plan, in, whole)
				tried++
				if len(asked.Items) < n.Item+1 {
					fewer++
				}
				if !assert.Equal(t, whole.given == nil, part.given == nil, "%s: %s", text, n.Hook.Name) {
					return
				}
				assert.Equal(t, want.Hooks[j.id].Status, got.Hooks[id].Status)
				if whole.given == nil {
					if n.Matcher.Match(in) && !j.rewritten {
						assert.Equal(t, want.By, got.By)
					}
					continue
				}
				assert.Equal(t, fmt.Sprint(whole.given.Get(policy.FieldToolInput)), fmt.Sprint(part.given.Get(policy.FieldToolInput)), "%s: %s", text, n.Hook.Name)
			}
		}
	}
	assert.Greater(t, fewer, tried/4, "of %d chains so many were shorter", tried)
}

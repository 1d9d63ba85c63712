package laws

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/policy"
)

// eachExplained is law 4: the model that every renderer draws has each loaded hook
// once, whatever became of it.
func eachExplained(t *testing.T, seed uint64) bool {
	w := newWorld(seed)
	w.policy.Hooks[w.rng.IntN(len(w.policy.Hooks))].Disabled = true
	old := w.policy.Hooks[w.rng.IntN(len(w.policy.Hooks))]
	if over := w.insert(len(w.policy.Hooks), "over", policy.KindBash, body{}); old.Group == nil && old.Tier < policy.TierLocal {
		over.Name, over.Tier = old.Name, policy.TierLocal
	}
	never := w.insert(w.anyStart(), "never", policy.KindBash, body{})
	never.Filter.Conditions = []policy.Condition{condition(policy.FilterToolName, "A"), condition(policy.FilterToolKind, "mcp")}
	var want, got []string
	for _, h := range w.policy.Hooks {
		want = append(want, h.Name)
	}
	for _, e := range render.Explain(w.compile(t), render.ExplainOptions{}).Events {
		for _, item := range e.Items {
			for _, h := range item.Hooks {
				if h.RecheckOf == "" {
					got = append(got, h.Name)
				}
			}
		}
		for _, h := range e.Dead {
			got = append(got, h.Name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
	return true
}

// byAnyName is law 24: a policy means the same under every name that the
// specification gives an event.
func byAnyName(t *testing.T, _ uint64) bool {
	names := nativeNames(t)
	for _, e := range policy.Events() {
		names[string(e)] = e
		for _, alias := range e.Spec().Aliases {
			if written, ok := names[alias]; ok {
				require.Equal(t, written, e, alias)
			}
			names[alias] = e
		}
	}
	hash := func(event string) string {
		program, found := hookc.Compile(hookc.SkipVerify(), hookc.Text("hooks.yaml", fmt.Sprintf("%q:\n  - {name: h, command: \"true\"}\n", event)))
		require.NoError(t, found.Err(), event)
		return program.Hash
	}
	for name, event := range names {
		require.Equal(t, hash(string(event)), hash(name), "%s is %s", name, event)
	}
	return len(names) > 50
}

// nativeNames reads the table of semantics.md §1.4: each agent's name of an
// event. Rows about two events, and names that mean an event only together
// with what is sent, are left out.
func nativeNames(t *testing.T) map[string]policy.Event {
	text, err := os.ReadFile("../../docs/semantics.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(text), "### 1.4")
	require.True(t, ok)
	rest, _, _ = strings.Cut(rest, "\n## ")
	remark := regexp.MustCompile(`\([^)]*\)`)
	name := regexp.MustCompile(`[A-Za-z][A-Za-z_-]+`)
	out := map[string]policy.Event{}
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		event := policy.Event(strings.TrimSpace(cells[0]))
		if !slices.Contains(policy.Events(), event) {
			continue
		}
		for _, cell := range cells[1:] {
			if strings.Contains(cell, " with ") {
				continue
			}
			for _, n := range name.FindAllString(remark.ReplaceAllString(cell, ""), -1) {
				require.True(t, out[n] == "" || out[n] == event, "%s", n)
				out[n] = event
			}
		}
	}
	return out
}

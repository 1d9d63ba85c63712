//go:build unix

package hostile

import (
	"encoding/json"
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

// TestBudgetFollowsTheSession: a session has one budget, whatever projects the agent
// makes and goes to.
func TestBudgetFollowsTheSession(t *testing.T) {
	const limit = 3
	text := "pre_tool_execution:\n  - {name: calls, use: budget-guard, max_calls: 3}\n"
	for road, line := range roads(t) {
		for _, tier := range []string{"user", "project"} {
			h := newHouse(t)
			dir := map[string]string{"user": filepath.Join(h.home, ".config", "hookc"), "project": filepath.Join(h.project, ".hookc")}[tier]
			require.NoError(t, put(dir, "hooks.yaml", text))
			trust := exec.Command(programs.Hookc(t), "trust", "--yes")
			trust.Dir, trust.Env = h.project, h.env
			said, err := trust.CombinedOutput()
			require.NoError(t, err, "%s", said)
			places := []string{h.project}
			for _, place := range []string{"sub/.git", "sub/deeper/.git", "other/.hookc", "../elsewhere/.git", "none"} {
				require.NoError(t, os.MkdirAll(filepath.Join(h.project, place), 0o755))
				places = append(places, filepath.Join(h.project, strings.TrimSuffix(strings.TrimSuffix(place, ".git"), ".hookc")))
			}
			ahead := 0
			for i := range 3 * len(places) {
				event, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "b", "cwd": places[i%len(places)],
					"tool_name": "Read", "tool_input": map[string]any{"file_path": "main.go"}})
				require.NoError(t, err)
				if a := h.ask(t, string(event), line...); !strings.Contains(a.stdout, "budget of 3 calls is spent") {
					ahead++
				}
			}
			assert.Equal(t, limit, ahead, "%s: a rule of the %s's policy", road, tier)
		}
	}
}

// TestBudgetWithoutAPlace: whatever the environment names as the place for what is
// counted, and where it names none, a budget is not larger.
func TestBudgetWithoutAPlace(t *testing.T) {
	const call = `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{"file_path":"main.go"}}`
	for _, tier := range []string{"user", "managed"} {
		h := newHouse(t)
		budget := filepath.Join(h.home, "budget.yaml")
		require.NoError(t, os.WriteFile(budget, []byte("pre_tool_execution:\n  - {name: calls, use: budget-guard, max_calls: 2}\n"), 0o644))
		h.served(t, programs.Hookc(t))
		for name, env := range homesOf(h.project) {
			require.NoError(t, os.RemoveAll(filepath.Join(h.project, ".h")))
			asked, ahead := *h, 0
			asked.env = append(slices.Clone(h.env), env...)
			for range 3 {
				for _, line := range roads(t) {
					if a := asked.ask(t, call, append(line, "-f", tier+"="+budget)...); !strings.Contains(a.stdout, `"permissionDecision":"deny"`) {
						ahead++
					}
				}
			}
			assert.LessOrEqual(t, ahead, 2, "%s: a rule of the %s's policy", name, tier)
		}
	}
}

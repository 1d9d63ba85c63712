package impact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/impact"
	"github.com/hookc/hookc/policy"
)

// rules are hooks of every kind that needs no process; each is judged alone.
var rules = map[string]string{
	"rm":     `deny: 'command startsWith "rm"', reason: no rm`,
	"pipe":   `ask: 'command contains "|"'`,
	"quiet":  `set: {tool_input.command: '"ls -l"'}, when: 'command == "ls"'`,
	"plan":   `deny: 'tool_name == "Edit"', filter: {permission_mode: plan}`,
	"rego":   `source: "package g\n\ndeny contains \"far\" if contains(input.command, \"..\")\n\nask contains \"far too\" if contains(input.command, \"|\")"`,
	"breaks": `on_error: deny, deny: 'len(tool_input.n) > 1'`,
	"say":    `type: builtin, use: say, result: '{"action":"skip","reason":"enough"}', filter: {command: "curl"}`,
	"never":  `deny: 'command == "nobody says this"'`,
}

func text(name, more string) string {
	return "  - {name: " + name + ", " + rules[name] + more + "}\n"
}

// TestImpactIsWhatEnforcementDoes: a hook is said to block, to ask about or to rewrite
// exactly the calls that it blocks, asks about or rewrites alone, whatever stands
// before it in the policy that is judged.
func TestImpactIsWhatEnforcementDoes(t *testing.T) {
	all := "pre_tool_execution:\n"
	for name := range rules {
		all += text(name, []string{"", ", enforcement: dryrun", ", rollout: 1%"}[len(all)%3])
	}
	program, found := hookc.Compile(hookc.Text("new.yaml", all), hookc.AsFound(), hookc.SkipVerify())
	require.NoError(t, found.Err())
	j, rng := impact.New(program, 2), rand.New(rand.NewPCG(1, 2))
	want := map[string]map[policy.Action]int{}
	engines := map[string]*hookc.Engine{}
	for name := range rules {
		eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", "pre_tool_execution:\n"+text(name, "")))
		require.NoError(t, err)
		defer eng.Close()
		engines[name], want[name] = eng, map[policy.Action]int{}
	}
	for i := range 300 {
		input := map[string]any{"tool_name": []string{"Bash", "Edit"}[rng.IntN(2)], "session_id": fmt.Sprint("s", i%7),
			"permission_mode": []string{"plan", "default"}[rng.IntN(2)], "tool_input": map[string]any{"n": []any{"a", "ab", json.Number("7")}[rng.IntN(3)],
				"command": []string{"ls", "rm x", "rm ../x", "curl a | sh", "curl a", "echo ..", "make"}[rng.IntN(7)]}}
		in, _, err := policy.ContextFromMap(input)
		require.NoError(t, err)
		for name, eng := range engines {
			d, err := eng.Fire(t.Context(), policy.PreToolExecution, in)
			require.NoError(t, err)
			action := d.Action
			if len(d.Patch) > 0 && action == policy.Proceed {
				action = "rewritten"
			}
			want[name][action]++
		}
		e := &decisionlog.Entry{Type: "decision", Path: "pre_tool_execution", ID: fmt.Sprint(i), Session: fmt.Sprint("s", i%7), Timestamp: time.Unix(int64(i)*3600, 0),
			Input: input, Result: map[string]any{"action": "proceed"}}
		require.NoError(t, j.Add(t.Context(), e))
	}
	r := j.Report()
	assert.Equal(t, []any{300, 7}, []any{r.Calls, r.Sessions})
	assert.Equal(t, []string{"never at pre_tool_execution"}, r.Quiet)
	require.Len(t, r.Hooks, len(rules)-1)
	last := 1 << 30
	for _, h := range r.Hooks {
		w := want[h.Name]
		assert.Equal(t, []int{w[policy.Block], w[policy.AskUser], w["rewritten"], 0}, []int{h.Blocked, h.Asked, h.Rewritten, h.Already}, h.Name)
		assert.Empty(t, h.NotReplayed)
		assert.Equal(t, "new", h.State)
		assert.LessOrEqual(t, h.Noise(), last, "the noisiest is first")
		assert.LessOrEqual(t, len(h.Samples), 2)
		sum := 0
		for _, n := range h.Days {
			sum += n
		}
		assert.Equal(t, h.Noise(), sum)
		last = h.Noise()
	}
	assert.NotZero(t, want["breaks"][policy.Block])
}

// TestWhatCannotBeReplayed: no process is started, answers of then are used, and what
// nobody knows is counted and said.
func TestWhatCannotBeReplayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	program, found := hookc.Compile(hookc.Text("new.yaml", `pre_tool_execution:
  - {name: script, protocol: claude, command: 'touch `+file+`; exit 0'}
  - {name: other, command: 'touch `+file+`'}
  - {name: late, command: 'touch `+file+`', async: true}
  - {name: model, prompt: "is {{tool_arguments}} fine?"}
  - {name: rule, deny: 'tool_input.secret == "x"', reason: no}
  - {name: tool, deny: 'tool_name == "Bash"', reason: no}
`), hookc.AsFound(), hookc.SkipVerify())
	require.NoError(t, found.Err())
	// What a script answers is recorded by a run of it.
	said := runner.Keeping(nil)
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", `pre_tool_execution: [{name: script, protocol: claude, command: 'echo bad >&2; exit 2'}]`))
	require.NoError(t, err)
	defer eng.Close()
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"secret": "y"})
	_, err = eng.Fire(runner.WithAnswers(t.Context(), said), policy.PreToolExecution, in)
	require.NoError(t, err)
	var answers map[string]any
	require.NoError(t, json.Unmarshal(said.Bytes(), &answers))

	j := impact.New(program, 3)
	add := func(answers map[string]any, masked []string, result map[string]any) {
		require.NoError(t, j.Add(t.Context(), &decisionlog.Entry{Path: "pre_tool_execution", Timestamp: time.Unix(0, 0), Answers: answers, Masked: masked, Result: result,
			Input: map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"secret": "[masked]"}}}))
	}
	add(answers, []string{"/input/tool_input/secret"}, map[string]any{"action": "proceed"})
	add(nil, nil, map[string]any{"action": "block"})
	require.NoError(t, j.Add(t.Context(), &decisionlog.Entry{Path: "no_such_event"}))
	require.NoFileExists(t, file)
	r := j.Report()
	hooks := map[string]*impact.Hook{}
	for _, h := range r.Hooks {
		hooks[h.Name] = h
	}
	assert.Equal(t, []int{1, 0}, []int{hooks["script"].Blocked, hooks["script"].Already})
	assert.Equal(t, []string{"bad"}, hooks["script"].Samples[0].Reasons)
	assert.Equal(t, map[string]int{"the record has no answer of it": 1}, hooks["script"].NotReplayed)
	assert.Equal(t, map[string]int{"the record has no answer of it": 2}, hooks["other"].NotReplayed)
	assert.Equal(t, map[string]int{"the record has no answer of it": 2}, hooks["model"].NotReplayed)
	assert.Equal(t, map[string]int{"it reads what was masked": 1}, hooks["rule"].NotReplayed)
	assert.Equal(t, []int{1, 1, 0}, []int{hooks["tool"].Blocked, hooks["tool"].Already, len(hooks["tool"].NotReplayed)})
	assert.Equal(t, 1, r.Unreadable)
	var b strings.Builder
	require.NoError(t, r.Print(&b, "text"))
	for _, line := range []string{"not replayed: model on 2 calls: the record has no answer of it", "not replayed: 1 event that this hookc cannot read",
		"1 answer of scripts and models, as a hook of that name gave it under another policy"} {
		assert.Contains(t, b.String(), line)
	}
}

// TestWhatTheLogTold: without a policy the record's own words count.
func TestWhatTheLogTold(t *testing.T) {
	j := impact.New(nil, 1)
	for i, action := range []string{"proceed", "proceed", "block"} {
		require.NoError(t, j.Add(context.Background(), &decisionlog.Entry{Path: "pre_tool_execution", Session: fmt.Sprint(i), Result: map[string]any{"action": action,
			"would": []any{map[string]any{"hook": "g", "action": "block", "says": "deny", "reasons": []any{"no"}}, map[string]any{"hook": "q", "action": "proceed", "says": "allow"}}}}))
	}
	h := j.Report().Hooks
	require.Len(t, h, 1)
	assert.Equal(t, []any{"g", 2, 1, 2, 1}, []any{h[0].Name, h[0].Blocked, h[0].Already, h[0].Sessions, len(h[0].Samples)})
}

// TestPagesOfHostileCalls: no text of a call is markup, and the page asks nobody.
func TestPagesOfHostileCalls(t *testing.T) {
	const bad = "</td><script src=x>|`\x1b[2J\n\u202e"
	j := impact.New(nil, 1)
	for day := range 3 {
		require.NoError(t, j.Add(t.Context(), &decisionlog.Entry{Path: "pre_tool_execution", Session: bad, Labels: map[string]string{"agent": bad}, Timestamp: time.Unix(int64(day)*86400, 0),
			Input:  map[string]any{"tool_name": bad, "tool_input": map[string]any{"command": bad}},
			Result: map[string]any{"action": "proceed", "would": []any{map[string]any{"hook": "g" + bad, "action": "block", "says": "deny", "reasons": []any{bad}}}}}))
	}
	for _, format := range []string{"text", "markdown", "html"} {
		var b strings.Builder
		require.NoError(t, j.Report().Print(&b, format))
		for _, never := range []string{"\x1b", "\u202e"} {
			assert.NotContains(t, b.String(), never, format)
		}
		if format != "text" {
			assert.NotContains(t, b.String(), "<script", format)
		}
		if format == "html" {
			assert.Equal(t, 2, strings.Count(b.String(), "<svg"))
			assert.NotContains(t, b.String(), "http")
		}
	}
}

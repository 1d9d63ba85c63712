package diff

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
)

// compiled compiles the text of a hooks.yaml.
func compiled(t *testing.T, text string) *dag.Program {
	t.Helper()
	p, found := source.Load(source.Options{Inputs: []source.Input{{Path: "hooks.yaml", Tier: policy.TierProject, Content: []byte(text)}}})
	require.False(t, found.HasErrors(), found.Render())
	program, more := compiler.Compile(p, compiler.Config{Kinds: runner.Kinds(runner.Options{})})
	require.False(t, more.HasErrors(), more.Render())
	return program
}

func compare(t *testing.T, old, new string, o Options) *Report {
	t.Helper()
	r, err := Compare(t.Context(), compiled(t, old), compiled(t, new), o)
	require.NoError(t, err)
	return r
}

// seen is what a report says of a decision, in a line.
func seen(r *Report) []string {
	out := []string{}
	for _, c := range r.Decisions {
		out = append(out, string(c.Event)+" "+string(c.From)+" "+string(c.To)+" "+string(c.Direction)+" "+string(c.Witness))
	}
	return out
}

const where = `"cwd":"/repo","event":"pre_tool_execution","project_root":"/repo"`

// TestWitnesses: a change of a rule is found on the event that shows it.
func TestWitnesses(t *testing.T) {
	cases := map[string]struct{ old, new, want string }{
		"expr": {`pre_tool_execution: [{name: a, type: expr, deny: 'tool_input.command contains "zap"', reason: no}]`,
			`pre_tool_execution: [{name: a, type: expr, deny: 'tool_input.command contains "zapp"', reason: no}]`,
			`pre_tool_execution block proceed loosened {` + where + `,"tool_input":{"command":"zap"},"tool_name":"Bash"}`},
		"two places": {`pre_tool_execution: []`,
			`pre_tool_execution: [{name: a, type: expr, ask: 'tool_name == "Zed" && tool_input.mode == "wild" && tool_input.n > 7', reason: no}]`,
			`pre_tool_execution proceed ask tightened {` + where + `,"tool_input":{"mode":"wild","n":8},"tool_name":"Zed"}`},
		"filter": {`pre_tool_execution: [{name: a, type: expr, filter: {tool_name: Zed}, deny: "true", reason: no}]`,
			`pre_tool_execution: [{name: a, type: expr, filter: {tool_name: Zad}, deny: "true", reason: no}]`,
			`pre_tool_execution block proceed loosened {` + where + `,"tool_name":"Zed"}`},
		"allow": {`permission_request: []`,
			`permission_request: [{name: a, type: expr, filter: {tool_name: Zed}, allow: "true", reason: ok}]`,
			`permission_request proceed proceed loosened {"cwd":"/repo","event":"permission_request","project_root":"/repo","tool_name":"Zed"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, seen(compare(t, c.old, c.new, Options{})), c.want)
		})
	}
}

// TestRegoWitness: constants in the bodies of rules, behind a local name, in a
// pattern, and in a set.
func TestRegoWitness(t *testing.T) {
	rule := func(body string) string {
		return "pre_tool_execution:\n  - name: a\n    type: rego\n    source: |\n      package p\n      " + body + "\n"
	}
	for _, body := range []string{
		`deny contains "x" if { c := input.tool_input.command; startswith(c, "zig build") }`,
		`deny contains "x" if regex.match("^zi[gf] +(build|run)$", input.tool_input.command)`,
		`deny contains "x" if { input.tool_name in {"Zed", "Zad"}; endswith(input.tool_input.file_path, ".zig") }`,
		`deny contains "x" if { input.tool_input.options["dry run"] == 3 }`,
		`deny contains "x" if count(input.tool_input.command) > 140`,
		`deny contains "x" if glob.match("**/zig-*/x", ["/"], input.tool_input.path)`,
	} {
		r := compare(t, rule(`ask contains "never" if false`), rule(body), Options{Events: 1000})
		require.NotEmpty(t, r.Decisions, body)
		for _, c := range r.Decisions {
			assert.Equal(t, Tightened, c.Direction)
			assert.Equal(t, policy.Block, c.To, body)
		}
	}
}

// TestGuardWitness: guards know by themselves what they look for.
func TestGuardWitness(t *testing.T) {
	with := compiled(t, `pre_tool_execution: [{name: a, use: shell-guard}]`)
	r, err := Compare(t.Context(), compiled(t, `pre_tool_execution: []`), with, Options{})
	require.NoError(t, err)
	assert.NotEmpty(t, r.Decisions)
}

// TestHookChanges: what is written differently.
func TestHookChanges(t *testing.T) {
	const old = `pre_tool_execution:
  - {name: a, type: expr, deny: 'tool_name == "A"', reason: no}
  - {name: b, type: expr, deny: 'tool_name == "B"', reason: no}
  - {name: c, type: expr, deny: 'tool_name == "C"', reason: no}
  - {name: gone, command: "true", may: [], writes: []}
  - {command: first, may: [], writes: []}
`
	const new = `pre_tool_execution:
  - {command: second, may: [], writes: []}
  - {command: first, may: [], writes: []}
  - {name: c, type: expr, deny: 'tool_name == "C"', reason: no}
  - {name: a, type: expr, deny: 'tool_name == "A"', reason: no}
  - {name: bb, type: expr, deny: 'tool_name == "B"', reason: no}
`
	r := compare(t, old, new, Options{Events: 100})
	for i := range r.Hooks {
		r.Hooks[i].Old, r.Hooks[i].New, r.Hooks[i].of = "", "", pair{}
	}
	assert.Equal(t, []HookChange{
		{Change: Removed, Event: policy.PreToolExecution, Hook: "gone", Kind: policy.KindBash, MayDiffer: "may differ: script removed, and was not run"},
		{Change: Added, Event: policy.PreToolExecution, Hook: "project/pre_tool_execution#1", Kind: policy.KindBash, MayDiffer: "may differ: script added, and was not run"},
		{Change: Moved, Event: policy.PreToolExecution, Hook: "project/pre_tool_execution#2", Kind: policy.KindBash,
			MayDiffer: "may differ: it has another place, and was not run"},
		{Change: Moved, Event: policy.PreToolExecution, Hook: "c", Kind: policy.KindExpr},
		{Change: Changed, Event: policy.PreToolExecution, Hook: "bb", Kind: policy.KindExpr, Was: "b"},
	}, r.Hooks)
	assert.Empty(t, r.Decisions, "order and names alone decide nothing here")
}

// TestFieldsAndSettings: each key, and what is set for a whole event.
func TestFieldsAndSettings(t *testing.T) {
	r := compare(t, `defaults: {chain_timeout: 10s, on_error: {expr: deny}}
pre_tool_execution:
  - {name: a, type: expr, filter: {tool_name: A}, deny: 'tool_input.x == 1', reason: no, timeout: 1}
`, `pre_tool_execution:
  strategy: chain-all
  hooks:
    - {name: a, type: expr, filter: {tool_name: B}, deny: 'tool_input.x == 1', reason: no, locked: true}
`, Options{Events: 100})
	require.Len(t, r.Hooks, 1)
	assert.Equal(t, []FieldChange{{"filter.tool_name", "A", "B"}, {"timeout", "1s", ""}, {"defaults.on_error", "deny", ""}, {"locked", "", "true"}}, r.Hooks[0].Fields)
	assert.Equal(t, []SettingChange{{Event: policy.PreToolExecution, Key: "strategy", Old: "chain", New: "chain-all"}, {Event: policy.PreToolExecution, Key: "chain_timeout", Old: "10s", New: "30s"}}, r.Settings)
}

// TestProcessesAreNotRun: neither what they would say nor that they would fail
// is a decision.
func TestProcessesAreNotRun(t *testing.T) {
	const old = `pre_tool_execution:
  - {name: a, command: "exit 1", on_error: deny}
  - {name: b, type: llm, prompt: "deny {{tool_name}}", on_error: deny}
`
	r := compare(t, old, `pre_tool_execution: []`, Options{})
	assert.Empty(t, r.Decisions)
	require.Len(t, r.Hooks, 2)
	assert.Equal(t, "may differ: prompt removed, and was not run", r.Hooks[1].MayDiffer)
	assert.False(t, r.Empty())
}

// TestChanceIsNoDifference: what one policy by itself answers in two ways.
func TestChanceIsNoDifference(t *testing.T) {
	const text = `pre_tool_execution:
  - name: dice
    type: rego
    source: |
      package p
      deny contains "unlucky" if rand.intn(input.tool_input.command, 2) == 1
`
	r := compare(t, text, text, Options{Events: 300})
	assert.Empty(t, r.Decisions)
	assert.Positive(t, r.Unstable, "some events must have been answered in two ways, or nothing was tested")
}

// TestEventAndToolNarrow: nothing else is compared.
func TestEventAndToolNarrow(t *testing.T) {
	const old, new = `stop: [{name: s, type: expr, deny: "true", reason: no}]`, `pre_tool_execution:
  - {name: a, type: expr, filter: {tool_name: A}, deny: "true", reason: no}
  - {name: b, type: expr, filter: {tool_matcher: "B|C"}, deny: "true", reason: no}
`
	r := compare(t, old, new, Options{Event: policy.PreToolExecution, Tool: "C", Events: 50})
	require.Len(t, r.Hooks, 1)
	assert.Equal(t, "b", r.Hooks[0].Hook)
	assert.Equal(t, []string{`pre_tool_execution proceed block tightened {` + where + `,"tool_name":"C"}`}, seen(r))
	assert.Equal(t, []DeniedChange{{policy.PreToolExecution, "C", "", "b"}}, r.Denied)
}

// TestAlwaysDenied: only what nothing can keep from being refused.
func TestAlwaysDenied(t *testing.T) {
	cases := map[string]struct {
		text string
		want []DeniedTool
	}{
		"by name":     {`pre_tool_execution: [{name: a, type: expr, filter: {tool_name: A}, deny: "true", reason: no}]`, []DeniedTool{{policy.PreToolExecution, "A", "a"}}},
		"by kind":     {`pre_tool_execution: [{name: a, type: expr, filter: {tool_kind: shell}, deny: "true", reason: no}]`, []DeniedTool{{policy.PreToolExecution, "Bash", "a"}}},
		"condition":   {`pre_tool_execution: [{name: a, type: expr, filter: {tool_name: A}, deny: "tool_input.x == 1", reason: no}]`, nil},
		"more filter": {`pre_tool_execution: [{name: a, type: expr, filter: {tool_name: A, command: "^x"}, deny: "true", reason: no}]`, nil},
		"asks":        {`pre_tool_execution: [{name: a, type: expr, filter: {tool_name: A}, ask: "true", reason: no}]`, nil},
		"asked before": {`pre_tool_execution:
  strategy: decisive
  hooks:
    - {name: q, type: expr, ask: "tool_input.x == 1", reason: q}
    - {name: a, type: expr, filter: {tool_name: A}, deny: "true", reason: no}
`, nil},
		"last wins": {`pre_tool_execution:
  strategy: parallel-last
  hooks:
    - {name: a, type: expr, filter: {tool_name: A}, deny: "true", reason: no}
    - {name: b, type: expr, filter: {tool_name: A}, allow: "true", reason: ok}
`, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, AlwaysDenied(compiled(t, c.text), []string{"A", "Bash"}))
		})
	}
}

// TestReportIsTheSameEachTime: nothing follows the order of maps.
func TestReportIsTheSameEachTime(t *testing.T) {
	const old, new = `pre_tool_execution: [{name: a, use: shell-guard}, {name: x, type: expr, deny: 'tool_input.a == "1" || tool_input.b == "2"', reason: no}]`,
		`pre_tool_execution: [{name: x, type: expr, ask: 'tool_input.a == "1" && tool_input.c == "2"', reason: no}]`
	text := func() string {
		r, err := Compare(context.Background(), compiled(t, old), compiled(t, new), Options{Events: 400})
		require.NoError(t, err)
		out, err := json.Marshal(r)
		require.NoError(t, err)
		return string(out)
	}
	assert.Equal(t, text(), text())
}

// TestCancelled: the error is the context's.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := compiled(t, `stop: [{name: a, type: expr, deny: "true", reason: no}]`)
	_, err := Compare(ctx, p, p, Options{})
	assert.ErrorIs(t, err, context.Canceled)
}

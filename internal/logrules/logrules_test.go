package logrules

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
)

const hidden = "the words of the user"

func decided() decisionlog.Decided {
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldSessionID, "s").
		Set(policy.FieldToolInput, map[string]any{"command": hidden, "list": []any{hidden, "b"}})
	return decisionlog.Decided{Event: policy.PreToolExecution, In: in.Frozen(policy.PreToolExecution), Answers: []byte(`{"h":"` + hidden + `"}`),
		Decision: &policy.Decision{Event: policy.PreToolExecution, Action: policy.Block, Verdict: policy.Deny, Control: policy.Go, By: "x", Reasons: []string{hidden}}}
}

// written is the line that a decision under rules becomes; "" for none.
func written(t *testing.T, s *record.Settled) string {
	t.Helper()
	rules, found := Compile(s)
	require.Empty(t, found.Render())
	dir := t.TempDir()
	w, err := decisionlog.Open(dir, decisionlog.Options{Durable: true})
	require.NoError(t, err)
	d := decided()
	d.Terms = &decisionlog.Terms{Rules: rules}
	require.NoError(t, w.Add(context.Background(), d))
	require.NoError(t, w.Close())
	for e, err := range decisionlog.Entries(dir) {
		require.NoError(t, err)
		if e.Type == "decision" {
			text, err := json.Marshal(e)
			require.NoError(t, err)
			return string(text)
		}
	}
	_, err = decisionlog.Verify(dir, nil)
	require.NoError(t, err)
	return ""
}

func moduleOf(text string, narrow bool) *record.Settled {
	return &record.Settled{Rego: []record.Masking{{Rego: diag.Literal("package system.log\n" + text), Drops: !narrow, Narrow: narrow}}}
}

// TestRulesMask has OPA's shapes of mask and drop, and those of hookc.
func TestRulesMask(t *testing.T) {
	line := written(t, moduleOf(`mask contains "/input/tool_input/command" if input.input.tool_name == "Bash"
mask contains {"op": "remove", "path": "/answers/h"}
mask contains {"op": "upsert", "path": "/result/reasons", "value": ["kept short"]}
mask contains "/input/tool_input/list/*"`, false))
	require.NotContains(t, line, hidden)
	require.Contains(t, line, "kept short")
	require.Contains(t, line, `"erased":["/answers/h"]`)
	require.Contains(t, line, `"command":"[masked:`)
	require.Contains(t, line, `"block"`)

	line = written(t, moduleOf(`mask contains "/input/tool_input/command" if input.input.tool_name == "Read"`, false))
	require.Contains(t, line, `"command":"`+hidden)

	for _, rule := range []string{`drop if input.path == "pre_tool_execution"`, `drop := true if input.result.action == "block"`} {
		require.Empty(t, written(t, moduleOf(rule, false)))
		require.NotEmpty(t, written(t, moduleOf(rule+"\n"+`mask contains "/input/prompt"`, true)), "a project drops nothing that another wants")
	}
	line = written(t, moduleOf(`mask contains x if some x in ["/input/tool_name", "/result/action", "/input/tool_input/command"]
mask contains {"op": "upsert", "path": "/input/tool_input/list", "value": "harmless"}`, true))
	require.Contains(t, line, `"tool_name":"Bash"`)
	require.Contains(t, line, `"action":"block"`)
	require.Contains(t, line, `"command":"[masked:`)
	require.NotContains(t, line, "harmless", "a project puts nothing in the place of what was")

	when := func(pointer, text string) *record.Settled {
		m := record.Masking{When: record.When{What: pointer, If: diag.Literal(text)}}
		if pointer == "" {
			return &record.Settled{Drop: []record.Masking{m}}
		}
		return &record.Settled{Mask: []record.Masking{m}}
	}
	require.Contains(t, written(t, when("/input/tool_input/command", `tool_name == "Bash"`)), `"command":"[masked:`)
	require.Contains(t, written(t, when("/input/tool_input/command", `tool_name == "Read"`)), `"command":"`+hidden)
	require.Empty(t, written(t, when("", `command contains "words"`)))
	require.NotEmpty(t, written(t, when("", `command contains "other"`)))
}

// TestFailingRulesMaskAll: whatever goes wrong in a rule, nothing is written that it
// might have masked, and the entry says so.
func TestFailingRulesMaskAll(t *testing.T) {
	for _, rule := range []string{
		`mask := {"/input/prompt"} if to_number(input.input.tool_input.command) > 0`,
		`mask := 5`, `mask := {"a": 1}`, `mask contains 5`, `mask contains "/labels/agent"`, `mask contains {"op": "hide", "path": "/input/x"}`,
		`mask contains {"path": "/input/x"}`, `mask contains "input/tool_input"`,
		"drop := true if input.path\ndrop := false if input.path",
		`drop if to_number(input.input.tool_input.command) > 0`,
		`mask contains "/input/prompt" if count([x | some x in numbers.range(1, 100000000)]) > 5`,
	} {
		line := written(t, moduleOf(rule, false))
		require.NotContains(t, line, hidden, rule)
		require.Contains(t, line, `"mask_error":`, rule)
		require.Contains(t, line, `"tool_name":"Bash"`, rule)
		require.Contains(t, line, `"action":"block"`, rule)
	}
	line := written(t, &record.Settled{Mask: []record.Masking{{When: record.When{What: "/input/tool_input/list", If: diag.Literal("tool_input.command > 5")}}}})
	require.NotContains(t, line, hidden)
	require.Contains(t, line, "mask_error")
}

// TestFaultyRules are reported where they are written.
func TestFaultyRules(t *testing.T) {
	for text, want := range map[string]string{
		"mask contains":                         "1:14",
		`mask contains "/input/x" if nothing`:   "nothing",
		`mask contains http.send({"url": "x"})`: "http.send",
		`allow := true`:                         "neither mask nor drop",
	} {
		src := diag.NewSource("log.rego", "package a\n"+text)
		s := &record.Settled{Rego: []record.Masking{{Rego: diag.NewText(src.Content, diag.Span{Source: src, End: len(src.Content)}, nil)}}}
		rules, found := Compile(s)
		require.Nil(t, rules)
		out := found.Render()
		require.Contains(t, out, "HK185", text)
		require.Contains(t, out, filepath.Base("log.rego"))
		if !strings.Contains(out, want) && want != "1:14" {
			t.Errorf("%s: %s", text, out)
		}
	}
}

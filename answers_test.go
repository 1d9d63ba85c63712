package hookc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// answers are a value of each key of a HookResult.
var answers = map[string]any{
	"abort": true, "action": "halt", "additional_context": "c", "assistant_output": "a", "decision": "block",
	"inject_messages": []any{map[string]any{"role": "user", "content": "m"}}, "messages": []any{map[string]any{"role": "user", "content": "n"}},
	"model": "small", "modified_input": map[string]any{"command": "ls"}, "reason": "r", "request_config": map[string]any{"t": 1},
	"retry_feedback": "f", "stop_reason": "s", "suppress_output": true, "system_message": "m", "system_prompt": "p",
	"tool_arguments": map[string]any{"command": "ls"}, "tool_config": map[string]any{"mode": "NONE"}, "tool_error": "e",
	"tool_input": map[string]any{"command": "ls"}, "tool_result": "t", "user_input": "u",
}

// beside are the keys without which one shows nothing.
var beside = map[string]map[string]any{
	"reason": {"decision": "deny"}, "stop_reason": {"action": "halt"}, "retry_feedback": {"action": "stop"},
	"modified_input": {"decision": "allow"}, "tool_arguments": {"decision": "allow"}, "tool_input": {"decision": "allow"},
}

// exprSays is how an expr hook says what is no field and no output: by a condition,
// and a text.
func exprSays(key string, value any) string {
	text, _ := value.(string)
	switch {
	case key == "abort":
		return "stop: 'true'"
	case key == "action":
		return text + ": 'true'"
	case key == "decision":
		v, _ := policy.ParseVerdict(text)
		return v.String() + ": 'true'"
	case key == "reason":
		return "reason: " + text
	}
	return fmt.Sprintf("set: {%s: '%s'}", key, jsonOf(value))
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// saidBy is hooks of each kind that give one answer.
func saidBy(event policy.Event, answer map[string]any) map[string]string {
	hook := func(body string) string {
		return fmt.Sprintf("%s:\n  - name: h\n    timeout: 1m\n    %s\n", event, strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n    "))
	}
	text := jsonOf(answer)
	out := map[string]string{
		"bash":          hook("command: |\n  cat >/dev/null; echo '" + text + "'"),
		"llm":           hook("prompt: say"),
		"say":           hook("use: say\nresult: '" + text + "'"),
		"rego":          hook("source: |\n  package p\n  result := " + text),
		"rego computed": hook("source: |\n  package p\n  result := object.union({}, " + text + ")"),
	}
	parts, sets, conditions := "", []string{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(answer)) {
		parts += fmt.Sprintf("\n  result[%q] := %s", key, jsonOf(answer[key]))
		if set, is := strings.CutPrefix(exprSays(key, answer[key]), "set: {"); is {
			sets = append(sets, strings.TrimSuffix(set, "}"))
		} else {
			conditions = append(conditions, exprSays(key, answer[key]))
		}
	}
	out["rego parts"] = hook("source: |\n  package p" + parts)
	if len(sets) > 0 {
		conditions = append(conditions, "set: {"+strings.Join(sets, ", ")+"}")
	}
	out["expr"] = hook(strings.Join(conditions, "\n"))
	return out
}

// answeredAt are the events at which a key is tried: where it means something, and
// at full depth all.
func answeredAt(key string) (at []policy.Event) {
	if depth.Full() {
		return policy.Events()
	}
	f, _, sets := policy.HookResultField(key)
	for _, e := range policy.Events() {
		if sets && e.Spec().CanWrite(f) || !sets && slices.Contains([]policy.Event{policy.PreLLMRequest, policy.StopEvent}, e) {
			at = append(at, e)
		}
	}
	return at
}

// A key of a HookResult means the same in the answer of every kind of hook, in both
// engines of Rego, and is no less than an error anywhere.
func TestEveryKindGivesEveryAnswer(t *testing.T) {
	assert.Equal(t, policy.HookResultKeys(), slices.Sorted(maps.Keys(answers)), "a value of each key")
	tried := 0
	for _, key := range policy.HookResultKeys() {
		answer := map[string]any{key: answers[key]}
		maps.Copy(answer, beside[key])
		for i, event := range answeredAt(key) {
			if tried++; depth.Skips(tried) || !depth.Short() && i > 0 && !depth.Tries(i, 3) {
				continue
			}
			t.Run(key+" "+string(event), func(t *testing.T) { sameAnswer(t, event, answer) })
		}
	}
}

func sameAnswer(t *testing.T, event policy.Event, answer map[string]any) {
	in := map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "rm -rf /", "kept": true}, "tool_result": "old",
		"tool_error": "old", "user_input": "old", "assistant_output": "old", "system_prompt": "old", "model": "old",
		"messages": []any{}, "request_config": map[string]any{"old": true}}
	model := hookc.Model(func(context.Context, policy.ModelRequest) (string, error) { return jsonOf(answer), nil })
	topdown := host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = []string{"native"} })
	kinds := saidBy(event, answer)
	want := map[string]any{}
	for _, kind := range append([]string{"bash"}, slices.Sorted(maps.Keys(kinds))...) {
		for engine, option := range map[string]hookc.Option{"native": model, "topdown": topdown} {
			if engine == "topdown" && !strings.HasPrefix(kind, "rego") {
				continue
			}
			eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", kinds[kind]), model, option)
			if err != nil && kind == "expr" && want["warnings"] != nil {
				continue // what the event does not take is an error of the policy
			}
			require.NoError(t, err, kinds[kind])
			c, _, err := policy.ContextFromMap(in)
			require.NoError(t, err)
			d, err := eng.Fire(t.Context(), event, c)
			require.NoError(t, err)
			require.NoError(t, eng.Close())
			got := shown(t, d)
			if len(want) == 0 {
				want = got
			}
			assert.Equal(t, want, got, "%s, %s", kind, engine)
		}
	}
}

// shown is what a decision says, without who said it and how.
func shown(t *testing.T, d *policy.Decision) map[string]any {
	t.Helper()
	text, err := json.Marshal(d)
	require.NoError(t, err)
	out := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &out))
	for _, key := range []string{"at", "hooks", "policy"} {
		delete(out, key)
	}
	return out
}

// A key that no HookResult has makes a `result` in Rego a failure, also beside an
// approval.
func TestUnknownKeyOfAResultFails(t *testing.T) {
	for _, body := range []string{
		`result := {"decision": "allow", "updated_input": {}}`,
		`result := object.union({"decision": "allow"}, {"updated_input": {}})`,
		"result.decision := \"allow\"\n      result.updated_input := {}",
		`result := {"decision": "allow", concat("_", ["updated", input.tool_name]): {}}`,
	} {
		for _, without := range [][]string{nil, {"native"}} {
			eng := engine(t, "pre_tool_execution:\n  - name: h\n    source: |\n      package p\n      "+body+"\n",
				host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = without }))
			d, err := eng.PreTool(t.Context(), bash("ls"))
			require.NoError(t, err)
			assert.Equal(t, policy.Deny, d.Verdict, body)
			require.Len(t, d.Failed, 1, body)
			assert.Contains(t, d.Failed[0].Error, "is no key of a result", body)
		}
	}
}

package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

func prompt(e policy.Event, text string) *policy.Hook {
	source := diag.NewSource("hooks.yaml", text)
	return &policy.Hook{Name: "h", Event: e, Kind: policy.KindLLM, Body: policy.Body{
		Prompt: diag.NewText(text, diag.Span{Source: source, End: len(text)}, []diag.Mark{{}})}}
}

// answers is a model that replies with a text and remembers what it was asked.
func answers(reply string, err error, asked *policy.ModelRequest) policy.Model {
	return func(_ context.Context, req policy.ModelRequest) (string, error) {
		*asked = req
		return reply, err
	}
}

func TestLLMAsks(t *testing.T) {
	var asked policy.ModelRequest
	h := prompt(policy.PreToolExecution, "tool={{tool_name}} args={{tool_arguments}} cmd={{ tool_input.command }} none={{tool_input.x}} in={{tool_input}} cwd={{cwd}}")
	body, list := llmKind(Options{DefaultModel: "m", Model: answers(`Sure: {"action":"skip"} done`, nil, &asked)}).Prepare(h)
	assert.Empty(t, list)
	in := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "echo {{cwd}}", "n": 1}).Frozen(policy.PreToolExecution)
	r, err := body.Runner.Run(t.Context(), in, 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Result{Control: policy.Skip, ControlBy: policy.By{Name: "h"}}, r)
	text, found := strings.CutSuffix(asked.Prompt, instruction)
	assert.True(t, found, "the instruction ends the prompt")
	object := `{"command":"echo {{cwd}}","n":1}`
	assert.Equal(t, "tool=Bash args="+object+" cmd=echo {{cwd}} none= in="+object+" cwd=", text)
	assert.Zero(t, asked.Temperature)
	assert.Equal(t, []string{"cwd", "tool_name", "tool_input"}, body.Effects.Reads.Names())
	spec := policy.PreToolExecution.Spec()
	assert.Equal(t, policy.Effects{Reads: body.Effects.Reads, Writes: spec.Writable(), May: spec.Powers, World: policy.WorldNone, MayFail: true}, body.Effects)
	for _, k := range policy.HookResultKeys() {
		assert.Contains(t, instruction, k)
	}
}

func TestLLMModelNames(t *testing.T) {
	var asked policy.ModelRequest
	o := Options{Model: answers("{}", nil, &asked), DefaultModel: "default"}
	rows := []struct {
		hook, file string
		options    Options
		want       string
	}{
		{"own", "files", o, "own"}, {"", "files", o, "files"}, {"", "", o, "default"}, {"", "", Options{Model: o.Model}, ""},
	}
	for _, row := range rows {
		h := prompt(policy.PreToolExecution, "x")
		h.Body.Model, h.File = row.hook, &policy.FileConfig{Model: row.file}
		body, _ := llmKind(row.options).Prepare(h)
		_, err := body.Runner.Run(t.Context(), policy.NewContext(h.Event), 0)
		require.NoError(t, err)
		assert.Equal(t, row.want, asked.Model)
	}
}

func TestLLMFailures(t *testing.T) {
	own := policy.Failf(policy.ErrNetwork, "openai: 429 Too Many Requests")
	rows := []struct {
		name, reply string
		err         error
		kind        policy.ErrKind
		text        string
	}{
		{"empty", " \n", nil, policy.ErrParse, "the model's reply is empty"},
		{"no object", "all is well", nil, policy.ErrParse, "the model's reply holds no JSON object"},
		{"reversed", "} and {", nil, policy.ErrParse, "the model's reply holds no JSON object"},
		{"half", `{"action": {"}`, nil, policy.ErrParse, "answer is not JSON: unexpected EOF"},
		{"two objects", `{} or {}`, nil, policy.ErrParse, "answer is not JSON: text after the JSON value"},
		{"unknown action", `{"action":"explode"}`, nil, policy.ErrParse, `action must be skip, stop or halt, not "explode"`},
		{"its own failure", "", own, policy.ErrNetwork, "openai: 429 Too Many Requests"},
		{"another failure", "", errors.New("boom"), policy.ErrNetwork, "model: boom"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var asked policy.ModelRequest
			body, _ := llmKind(Options{Model: answers(row.reply, row.err, &asked)}).Prepare(prompt(policy.PreToolExecution, "x"))
			r, err := body.Runner.Run(t.Context(), policy.NewContext(policy.PreToolExecution), 0)
			assert.Equal(t, policy.Result{}, r)
			assert.Equal(t, row.kind, policy.KindOf(err))
			assert.EqualError(t, err, row.text)
		})
	}
}

func TestLLMWithoutProvider(t *testing.T) {
	body, _ := llmKind(Options{}).Prepare(prompt(policy.PreToolExecution, "x"))
	_, err := body.Runner.Run(t.Context(), policy.NewContext(policy.PreToolExecution), 0)
	assert.Equal(t, policy.ErrNetwork, policy.KindOf(err))
	assert.ErrorContains(t, err, "no model provider is configured")
}

func TestLLMTimesOut(t *testing.T) {
	slow := func(ctx context.Context, _ policy.ModelRequest) (string, error) {
		<-ctx.Done()
		return "", errors.New("gave up")
	}
	var got []DebugRecord
	o := Options{Model: slow, DefaultModel: "m", Debug: func(r DebugRecord) { got = append(got, r) }}
	body, _ := llmKind(o).Prepare(prompt(policy.PreToolExecution, "x"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := body.Runner.Run(ctx, policy.NewContext(policy.PreToolExecution), 1)
	assert.Equal(t, policy.ErrTimeout, policy.KindOf(err))
	require.Len(t, got, 1)
	got[0].Micros = 0
	assert.Equal(t, DebugRecord{Hook: "h", Event: policy.PreToolExecution, Kind: policy.KindLLM, Command: "model m", Exit: -1,
		Error: "timed out: context deadline exceeded", Attempt: 1}, got[0])
	_, err = body.Runner.Run(ctx, policy.NewContext(policy.PreToolExecution), 1)
	assert.Equal(t, policy.ErrTimeout, policy.KindOf(err), "a context that is over asks nothing")
}

func TestTemplateDiagnostics(t *testing.T) {
	rows := []struct {
		event        policy.Event
		text         string
		at, hint     string
		want, render string
	}{
		{policy.PreToolExecution, "a {{tool_nmae}} b", "{{tool_nmae}}", `did you mean "tool_name"?`,
			`no field is called "tool_nmae"; {{tool_nmae}} stays as it is written`, "a {{tool_nmae}} b"},
		{policy.PreToolExecution, "{{nope}}", "{{nope}}", "", `no field is called "nope"; {{nope}} stays as it is written`, "{{nope}}"},
		{policy.PreToolExecution, "{{tool_name.x}}", "{{tool_name.x}}", `did you mean "tool_name"?`, `no field is called "tool_name.x"; {{tool_name.x}} stays as it is written`, "{{tool_name.x}}"},
		{policy.PreToolExecution, "a{{user_input}}b", "{{user_input}}", "", "pre_tool_execution never carries user_input: {{user_input}} is always empty", "ab"},
	}
	for _, row := range rows {
		h := prompt(row.event, row.text)
		tpl, list := parseTemplate(h)
		require.Len(t, list, 1, row.text)
		d := list[0]
		assert.Equal(t, "HK092", d.Code.ID)
		assert.Equal(t, row.at, row.text[d.Span.Start:d.Span.End])
		assert.Equal(t, row.hint, d.Hint)
		assert.Equal(t, row.want, d.Text)
		assert.Equal(t, row.render, tpl.render(policy.NewContext(row.event)))
	}
	for _, plain := range []string{"no variable", "{{}}", "{{ 1 }}", "{tool_name}", "{{tool_name}", "{{#if x}}", "{{raw.anything}} {{tool_kind}}"} {
		_, list := parseTemplate(prompt(policy.PreToolExecution, plain))
		assert.Empty(t, list, plain)
	}
}

// Substitution is one pass: cutting the template at its variables and putting
// the values between the pieces is the same, whatever the values hold.
func FuzzTemplate(f *testing.F) {
	f.Add("{{tool_name}} {{tool_input.a}} {{nope}}", "{{tool_input.a}}", "{{tool_name}}")
	f.Add("{{{tool_name}}}{{tool_name}}{{", "}}", "{{")
	f.Add("{{ tool_input }}", "x", "\xff")
	f.Fuzz(func(t *testing.T, text, name, value string) {
		in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, name).Set(policy.FieldToolInput, map[string]any{"a": value})
		tpl, _ := parseTemplate(prompt(policy.PreToolExecution, text))
		want := variable().ReplaceAllStringFunc(text, func(v string) string {
			key := strings.Trim(strings.Trim(v, "{}"), " \t")
			switch key {
			case "tool_name":
				return name
			case "tool_input.a":
				return value
			case "event":
				return string(policy.PreToolExecution)
			}
			path, ok := resolve(key)
			if !ok {
				return v
			}
			if got, has := in.At(path); has {
				return agent.JSONText(got)
			}
			return ""
		})
		require.Equal(t, want, tpl.render(in))
	})
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"", "{}", "}{", `x {"action":"stop"} y`, "{{}}", `{"messages":[1]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		r, err := readReply(reply, policy.By{Name: "h"})
		if err != nil {
			var failed *policy.HookError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, policy.Result{}, r)
		}
	})
}

// Where nobody names a model the event's is asked, and the hook reads it.
func TestLLMAsksTheModelOfTheEvent(t *testing.T) {
	var asked policy.ModelRequest
	body, _ := llmKind(Options{Model: answers("{}", nil, &asked)}).Prepare(prompt(policy.PreToolExecution, "x"))
	assert.Equal(t, []string{"model"}, body.Effects.Reads.Names())
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldModel, "the-events").Frozen(policy.PreToolExecution)
	_, err := body.Runner.Run(t.Context(), in.Project(body.Effects.Reads), 0)
	require.NoError(t, err)
	assert.Equal(t, "the-events", asked.Model)
}

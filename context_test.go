package hookc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
)

// sample is a value of a field's type.
func sample(f policy.Field) any {
	switch f.Spec().Type {
	case policy.NumberType:
		return 7
	case policy.BoolType:
		return true
	case policy.ObjectType:
		return map[string]any{"command": "ls " + f.String(), "n": 1.5}
	case policy.ListType:
		return []any{map[string]any{"role": "user", "content": f.String()}}
	}
	if f == policy.FieldCwd || f == policy.FieldProjectRoot {
		return "/w"
	}
	return "the " + f.String()
}

// sent are the fields that an event carries and a host sends.
func sent(e policy.Event) map[policy.Field]any {
	out := map[policy.Field]any{}
	for _, f := range policy.Fields() {
		if f != policy.FieldEvent && !f.Derived() && e.Spec().CanRead(f) {
			out[f] = sample(f)
		}
	}
	return out
}

// watch is a rule that keeps the Contexts it is run with.
func watch(seen *[]*policy.Context) rule.Rule {
	return rule.Rule{Name: "watch", Doc: "looks", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
		run := func(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
			*seen = append(*seen, in)
			return policy.Result{}, nil
		}
		return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{World: policy.WorldWrite, Reads: policy.FieldPaths(policy.Fields()...)}}, nil
	}}
}

// accessors are the ways to read a field of a Context; every exported method
// has a row, or is said not to read one.
var accessors = map[string]func(t *testing.T, c *policy.Context, f policy.Field) any{
	"Get": func(t *testing.T, c *policy.Context, f policy.Field) any {
		v, ok := c.Get(f)
		assert.Equal(t, v != nil, ok)
		return v
	},
	"Has": func(t *testing.T, c *policy.Context, f policy.Field) any {
		v, _ := c.Get(f)
		assert.Equal(t, v != nil, c.Has(f))
		return v
	},
	"Text": func(t *testing.T, c *policy.Context, f policy.Field) any {
		v, _ := c.Get(f)
		if text, ok := v.(string); ok {
			return c.Text(f) + text[len(text):]
		}
		assert.Empty(t, c.Text(f))
		return v
	},
	"At": func(_ *testing.T, c *policy.Context, f policy.Field) any {
		v, _ := c.At(policy.Path{Field: f})
		return v
	},
	"Map": func(_ *testing.T, c *policy.Context, f policy.Field) any { return c.Map()[f.String()] },
	"Fields": func(t *testing.T, c *policy.Context, f policy.Field) any {
		v, _ := c.Get(f)
		assert.Equal(t, v != nil, slices.Contains(c.Fields(), f))
		return v
	},
	"MarshalJSON": func(t *testing.T, c *policy.Context, f policy.Field) any {
		text, err := c.MarshalJSON()
		require.NoError(t, err)
		v, err := policy.DecodeJSON(text)
		require.NoError(t, err)
		return v.(map[string]any)[f.String()]
	},
}

// others are the methods of a Context that read no field for a caller.
var others = []string{"Set", "Err", "Frozen", "Whole", "With", "Project", "Carry", "Unfit", "Memo"}

// TestContextIsOne: however a Context was come by, every accessor gives every
// field the same value.
func TestContextIsOne(t *testing.T) {
	of := reflect.TypeFor[policy.Context]()
	for i := range of.NumField() {
		assert.False(t, of.Field(i).IsExported(), "%s would be another way to read and write", of.Field(i).Name)
	}
	methods := reflect.TypeFor[*policy.Context]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		_, reads := accessors[name]
		assert.True(t, reads || slices.Contains(others, name), "%s has no row here", name)
	}

	for i, e := range policy.Events() {
		if !depth.Tries(i, 3) {
			continue
		}
		want := sent(e)
		want[policy.FieldEvent] = string(e)
		for way, c := range waysToAContext(t, e) {
			for f, value := range want {
				for name, read := range accessors {
					assert.Equal(t, value, read(t, c, f), "%s: %s by %s at %s", way, f, name, e)
				}
			}
			assert.Len(t, c.Fields(), len(want), way)
		}
	}
}

// waysToAContext are all the Contexts of one event that a host or a rule gets.
func waysToAContext(t *testing.T, e policy.Event) map[string]*policy.Context {
	values := sent(e)
	byName := map[string]any{"event": string(e)}
	made, zero, fromNone := policy.NewContext(e), new(policy.Context), policy.NewContext("")
	for f, v := range values {
		byName[f.String()] = v
		made.Set(f, v)
		zero.Set(f, v)
		fromNone.Set(f, v)
	}
	text, err := json.Marshal(byName)
	require.NoError(t, err)
	mapped, _, err := policy.ContextFromMap(byName)
	require.NoError(t, err)
	decoded, _, err := policy.DecodeContext(text)
	require.NoError(t, err)
	out := map[string]*policy.Context{
		"NewContext": made, "zero": zero.Set(policy.FieldEvent, string(e)), "ContextFromMap": mapped, "DecodeContext": decoded,
		"Frozen": made.Frozen(e), "Whole": made.Whole(e), "With": made.With(policy.Replace(policy.Path{Field: policy.FieldCwd}, "/w")),
		"Project": made.Project(policy.FieldPaths(slices.Collect(maps.Keys(values))...)),
	}
	var seen []*policy.Context
	for way, fire := range map[string]func(*hookc.Engine) (*policy.Decision, error){
		"Fire":       func(eng *hookc.Engine) (*policy.Decision, error) { return eng.Fire(t.Context(), e, fromNone) },
		"FireSerial": func(eng *hookc.Engine) (*policy.Decision, error) { return eng.FireSerial(t.Context(), e, made) },
		"FireInto": func(eng *hookc.Engine) (*policy.Decision, error) {
			return eng.FireInto(t.Context(), e, made, new(hookc.Reused))
		},
		"FireJSON": func(eng *hookc.Engine) (*policy.Decision, error) { return eng.FireJSON(t.Context(), e, text) },
	} {
		// An engine each: a call that comes again is answered from memory.
		eng := engine(t, fmt.Sprintf("%s: [{name: h, use: watch}]\n", e), hookc.Rules(watch(&seen)))
		d, err := fire(eng)
		require.NoError(t, err, way)
		require.Empty(t, d.Failed, way)
		require.Len(t, seen, 1, way)
		out[way+" Final"], out[way+" rule"] = d.Final, seen[0]
		if e == hookc.PreToolExecution {
			pipelineContexts(t, eng, made, out)
		}
		seen = nil
	}
	return out
}

func pipelineContexts(t *testing.T, eng *hookc.Engine, in *policy.Context, out map[string]*policy.Context) {
	tool := func(_ context.Context, c *policy.Context) (map[string]any, error) {
		out["Action"] = c
		return nil, nil
	}
	o, err := eng.Run(t.Context(), "tool", hookc.Actions{"tool": tool}, in)
	require.NoError(t, err)
	out["Outcome"] = o.Context.Frozen(hookc.PreToolExecution)
}

// TestNilContextIsRefused on every road.
func TestNilContextIsRefused(t *testing.T) {
	eng := engine(t, `pre_tool_execution: [{name: h, filter: {tool_name: Bash}, deny: "true"}]`)
	unusable := policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"f": func() {}})
	for _, e := range policy.Events() {
		for _, in := range []*policy.Context{nil, unusable, policy.NewContext("").Set(policy.FieldToolName, 7)} {
			for name, fire := range map[string]func() (*policy.Decision, error){
				"Fire":       func() (*policy.Decision, error) { return eng.Fire(t.Context(), e, in) },
				"FireSerial": func() (*policy.Decision, error) { return eng.FireSerial(t.Context(), e, in) },
				"FireInto":   func() (*policy.Decision, error) { return eng.FireInto(t.Context(), e, in, new(hookc.Reused)) },
				"Without":    func() (*policy.Decision, error) { return eng.Without(t.Context(), e, in, &policy.Decision{}) },
			} {
				d, err := fire()
				var unfit *hookc.UnfitError
				require.ErrorAs(t, err, &unfit, name)
				assert.Equal(t, policy.Block, d.Action, name)
				assert.NotNil(t, d.Final, name)
			}
			assert.Error(t, eng.RunAsync(t.Context(), e, "h", in))
			_, err := eng.Run(t.Context(), "tool", hookc.Actions{"tool": nothing}, in)
			assert.Error(t, err)
		}
	}
}

func nothing(context.Context, *policy.Context) (map[string]any, error) { return nil, nil }

// TestSetForgetsWhatWasComputed: a Context that was read may be filled in
// further, and nothing that was computed of the old fields is left.
func TestSetForgetsWhatWasComputed(t *testing.T) {
	in := policy.NewContext(hookc.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
	require.Equal(t, "ls", in.Text(policy.FieldCommand))
	compute := func(c *policy.Context) any { v, _ := c.Get(policy.FieldToolInput); return v }
	in.Memo(policy.FieldShell, compute)
	in.Set(policy.FieldToolInput, map[string]any{"command": "rm"})
	assert.Equal(t, "rm", in.Text(policy.FieldCommand))
	assert.Equal(t, map[string]any{"command": "rm"}, in.Memo(policy.FieldShell, compute))
}

type command string

type edit struct {
	Path    string   `json:"file_path"`
	Old     *string  `json:"old_string"`
	New     []byte   `json:"new_string,omitempty"`
	Command command  `json:"command,omitempty"`
	Steps   []string `json:"steps"`
}

type embedding struct {
	*edit
	More map[command]int `json:"more,omitempty"`
}

type upper string

func (u upper) MarshalJSON() ([]byte, error) { return json.Marshal("UP " + string(u)) }

type key struct{ name string }

func (k key) MarshalText() ([]byte, error) { return []byte(k.name), nil }

var words = []string{"", "ls", "rm -rf /", "AKIAIOSFODNN7EXAMPLE", "ghp_012345678901234567890123456789abcdef", "/etc/passwd", "a\xffb", "\u2028<&>", "/w/.env", "git push"}

// goValue is a random Go value; some are no JSON.
func goValue(r *rand.Rand, deep int) any {
	word := words[r.IntN(len(words))]
	if deep == 0 {
		return []any{nil, word, r.IntN(5), float64(r.IntN(5)), r.Float64() * 1e30, int64(r.Uint64()), r.Uint64(), uint8(3), true, float32(0.1),
			command(word), upper(word), []byte(word), &word, (*string)(nil), json.Number("12"), json.Number("1.50"), json.Number("")}[r.IntN(18)]
	}
	one := func() any { return goValue(r, r.IntN(deep)) }
	switch r.IntN(14) {
	case 0:
		return map[string]string{"command": word, "file_path": words[r.IntN(len(words))]}
	case 1:
		return []string{word, word}
	case 2:
		return []map[string]any{{"command": one()}, nil}
	case 3:
		return edit{Path: word, New: []byte(word), Command: command(word)}
	case 4:
		return &edit{Path: word, Old: &word, Steps: []string{word}}
	case 5:
		return embedding{edit: &edit{Path: word}, More: map[command]int{command(word): 1}}
	case 6:
		return json.RawMessage(fmt.Sprintf(`{"command": %q, "n": 1.0}`, "rm -rf /"))
	case 7:
		return []any{one(), one()}
	case 8:
		return [2]any{one(), word}
	case 9:
		return map[key]any{{"command"}: one()}
	case 10:
		return map[string]any(nil)
	case 11:
		v := one()
		return &v
	}
	return map[string]any{"command": one(), "file_path": word, "content": one()}
}

const everyKind = `
%s:
  - {name: paths, use: path-guard, hide: ["**/.env"]}
  - {name: secrets, use: secret-guard}
  - {name: expr, timeout: 1m, deny: 'string(tool_input ?? "") contains "rm -rf"', reason: expr}
  - {name: math, timeout: 1m, ask: '(tool_input.content ?? 0) == 3 or tool_input.n == 1'}
  - name: rego
    timeout: 1m # of which a busy machine leaves enough
    source: |
      package p
      deny contains json.marshal(input.tool_input) if contains(json.marshal(input.tool_input), "git push")
      ask contains sprintf("%%v", [x]) if { some x; walk(input, [_, x]); is_number(x) }
  - {name: own, use: says}
`

// says is a rule that answers with what it saw.
var says = rule.Rule{Name: "says", Doc: "repeats", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
	run := func(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
		v, _ := in.Get(policy.FieldToolInput)
		w, _ := in.Get(policy.FieldToolResult)
		return policy.Result{System: []string{fmt.Sprintf("%#v %#v", v, w)}}, nil
	}
	return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{World: policy.WorldWrite, Reads: policy.FieldPaths(policy.FieldToolInput, policy.FieldToolResult)}}, nil
}}

// TestGoValuesMeanTheirJSON: Fire of a Go value decides as FireJSON of what
// encoding/json makes of it, and refuses what that refuses.
func TestGoValuesMeanTheirJSON(t *testing.T) {
	for _, e := range []policy.Event{hookc.PreToolExecution, hookc.PostToolExecution} {
		eng := engine(t, fmt.Sprintf(everyKind, e), hookc.Rules(says))
		r := rand.New(rand.NewPCG(1, uint64(len(e))))
		for i := range depth.Of(2000) {
			call := hookc.Call{Tool: "Bash", Input: goValue(r, 4)}
			if e == hookc.PostToolExecution {
				call.Result = goValue(r, 3)
			}
			text, err := json.Marshal(call)
			require.NoError(t, err)
			want, wantErr := eng.FireJSON(t.Context(), e, text)
			fire := eng.PreTool
			if e == hookc.PostToolExecution {
				fire = eng.PostTool
			}
			got, err := fire(t.Context(), call)
			require.Equal(t, wantErr == nil, err == nil, "%d: %s: %v, not %v", i, text, err, wantErr)
			if err == nil {
				assert.Equal(t, timeless(t, want), timeless(t, got), "%d: %s", i, text)
			}
		}
	}
}

// timeless is the JSON of a Decision without times.
func timeless(t *testing.T, d *policy.Decision) string {
	out := *d
	out.Hooks = slices.Clone(d.Hooks)
	for i := range out.Hooks {
		out.Hooks[i].Micros = 0
	}
	text, err := out.MarshalJSON()
	require.NoError(t, err)
	return string(text)
}

// TestAnswersOfGoRulesMeanTheirJSON: what a rule and an action of the host
// answer is read as what a host sends.
func TestAnswersOfGoRulesMeanTheirJSON(t *testing.T) {
	var value any
	sets := rule.Rule{Name: "sets", Doc: "rewrites", New: func(h *policy.Hook, _ rule.Options) (rule.Made, diag.List) {
		run := func(context.Context, *policy.Context, int) (policy.Result, error) {
			return policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput}, value)}, nil
		}
		return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{World: policy.WorldNone, Writes: policy.FieldPaths(policy.FieldToolInput)}}, nil
	}}
	eng := engine(t, `pre_tool_execution:
  - {name: sets, use: sets}
  - {name: no-rm, deny: 'command contains "rm"'}
`, hookc.Rules(sets))
	for _, bad := range []any{map[string]string{"command": "rm"}, edit{Command: "rm"}, struct {
		C *string `json:"command"`
	}{new(string)}} {
		value = bad
		if s, ok := bad.(struct {
			C *string `json:"command"`
		}); ok {
			*s.C = "rm x"
		}
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		assert.Equal(t, "no-rm", d.By, "%#v", bad)
	}
	for _, bad := range []any{7, "text", map[string]any{"f": func() {}}} {
		value = bad
		d, err := eng.PreTool(t.Context(), bash("ls"))
		require.NoError(t, err)
		require.Len(t, d.Failed, 1, "%v", bad)
		assert.Equal(t, policy.ErrParse, d.Failed[0].Kind)
		assert.Contains(t, d.Failed[0].Error, "tool_input")
	}
	tool := func(context.Context, *policy.Context) (map[string]any, error) {
		return map[string]any{"tool_result": map[string]string{"out": "x"}}, nil
	}
	value = map[string]any{}
	out, err := eng.Run(t.Context(), "tool", hookc.Actions{"tool": tool}, policy.NewContext("").Set(policy.FieldToolName, "Bash"))
	require.NoError(t, err)
	result, _ := out.Context.Get(policy.FieldToolResult)
	assert.Equal(t, map[string]any{"out": "x"}, result)
}

// helpersOf are the typed helpers by their event.
func helpersOf(eng *hookc.Engine) map[policy.Event]any {
	return map[policy.Event]any{
		hookc.SessionStart: eng.SessionStart, hookc.SessionEnd: eng.SessionEnd, hookc.PreSendMessage: eng.PreSend,
		hookc.PostSendMessage: eng.PostSend, hookc.PreLLMRequest: eng.PreModel, hookc.ToolSelection: eng.SelectTools,
		hookc.PostLLMResponse: eng.PostModel, hookc.PreToolExecution: eng.PreTool, hookc.PermissionRequest: eng.Permission,
		hookc.PostToolExecution: eng.PostTool, hookc.PostToolExecutionFailure: eng.PostToolFailure, hookc.StopEvent: eng.Stop,
		hookc.PostStop: eng.PostStop, hookc.TurnEnd: eng.TurnEnd, hookc.StopFailure: eng.StopFailure,
		hookc.SubagentStart: eng.SubagentStart, hookc.SubagentStop: eng.SubagentStop, hookc.Notify: eng.Notify,
		hookc.PreMicroCompact: eng.PreMicroCompact, hookc.PostMicroCompact: eng.PostMicroCompact,
		hookc.PreAutoCompact: eng.PreAutoCompact, hookc.PostAutoCompact: eng.PostAutoCompact,
	}
}

// TestHelpersSayEveryField: the struct of each helper can say each field that
// is readable at its event, and a rule sees it.
func TestHelpersSayEveryField(t *testing.T) {
	text := ""
	for _, e := range policy.Events() {
		text += fmt.Sprintf("%s: [{name: h, use: watch}]\n", e)
	}
	var seen []*policy.Context
	eng := engine(t, text, hookc.Rules(watch(&seen)))
	helpers := helpersOf(eng)
	for _, e := range policy.Events() {
		helper := reflect.ValueOf(helpers[e])
		require.True(t, helper.IsValid(), "no helper for %s", e)
		want := sent(e)
		arg := reflect.New(helper.Type().In(1)).Elem()
		body := map[string]any{}
		for f, v := range want {
			body[f.String()] = v
		}
		asJSON, err := json.Marshal(body)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(asJSON, arg.Addr().Interface()))
		out := helper.Call([]reflect.Value{reflect.ValueOf(t.Context()), arg})
		require.Nil(t, out[1].Interface(), e)
		require.Len(t, seen, 1)
		for f, v := range want {
			got, _ := seen[0].Get(f)
			assert.Equal(t, v, got, "%s at %s", f, e)
		}
		seen = nil
	}
}

// TestNilContextIsReadAsNothing: every method of a nil Context returns, by
// reflection; what reads gives nothing, and what makes a Context gives one that an
// engine refuses.
func TestNilContextIsReadAsNothing(t *testing.T) {
	var none *policy.Context
	eng := engine(t, `pre_tool_execution: [{name: h, deny: "true"}]`)
	of := reflect.TypeOf(none)
	for i := range of.NumMethod() {
		m := of.Method(i)
		args := []reflect.Value{reflect.ValueOf(none)}
		for k := range m.Type.NumIn() - 1 {
			args = append(args, reflect.Zero(m.Type.In(k+1)))
		}
		switch m.Name {
		case "Set":
			args[1], args[2] = reflect.ValueOf(policy.FieldToolName), reflect.ValueOf("Bash")
		case "With":
			args[1] = reflect.ValueOf(policy.Replace(policy.Path{Field: policy.FieldCwd}, "/w"))
		case "Project":
			args[1] = reflect.ValueOf(policy.FieldPaths(policy.Fields()...))
		case "Memo":
			args[2] = reflect.ValueOf(func(c *policy.Context) any { return c.Text(policy.FieldCommand) })
		}
		if m.Name == "Get" || m.Name == "Has" || m.Name == "Text" {
			for _, f := range policy.Fields() {
				args[1] = reflect.ValueOf(f)
				for _, out := range m.Func.Call(args) {
					assert.True(t, !out.IsValid() || out.IsZero(), "%s of %s", m.Name, f)
				}
			}
			continue
		}
		out := m.Func.Call(args)
		switch v := out[0].Interface().(type) {
		case *policy.Context:
			assert.ErrorIs(t, v.Err(), policy.ErrNoContext, m.Name)
			d, err := eng.Fire(t.Context(), hookc.PostToolExecution, v)
			assert.ErrorIs(t, err, policy.ErrNoContext, m.Name)
			assert.Equal(t, policy.Block, d.Action, m.Name)
			_, err = eng.Run(t.Context(), "compact", hookc.Actions{}, v)
			assert.ErrorIs(t, err, policy.ErrNoContext, m.Name)
		case error:
			assert.ErrorIs(t, v, policy.ErrNoContext, m.Name)
		case []byte:
			assert.Equal(t, "null", string(v), m.Name)
		default:
			assert.Empty(t, v, m.Name)
		}
	}
}

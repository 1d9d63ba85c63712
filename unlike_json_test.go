package hookc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
)

type panics struct{ with any }

func (p panics) MarshalJSON() ([]byte, error) { panic(p.with) }

type panicsOnNil struct{ name string }

func (p *panicsOnNil) MarshalText() ([]byte, error) { return []byte(p.name), nil }

type fails struct{}

func (fails) MarshalJSON() ([]byte, error) { return nil, errors.New("no form") }

type prints string

func (p prints) MarshalJSON() ([]byte, error) { return []byte(p), nil }

type failingKey struct{}

func (failingKey) MarshalText() ([]byte, error) { return nil, errors.New("no key") }

type panickingKey struct{}

func (panickingKey) MarshalText() ([]byte, error) { panic("key") }

type left struct{ Command string }

type right struct {
	Command string
	Other   string `json:"other"`
}

// clashing has two fields of one name, of which encoding/json writes none.
type clashing struct {
	left
	right
}

type loop struct {
	Name string `json:"name"`
	Next *loop  `json:"next"`
}

type quoted struct {
	N       int    `json:"n,string"`
	Hidden  string `json:"-"`
	unseen  string
	Command *string `json:"command,omitempty"`
}

// unlike are Go values that are no plain JSON, by what they are: made anew for
// each use, since some hold themselves.
func unlike() map[string]any {
	word, in := "rm -rf /", map[string]any{}
	in["command"] = in
	list := []any{"git push", nil}
	list[1] = list
	ring := &loop{Name: "rm -rf /"}
	ring.Next = &loop{Next: ring}
	pointer := &word
	twice, thrice := &pointer, new(**string)
	*thrice = twice
	deep := func(n int) any {
		var v any = "rm -rf /"
		for range n {
			v = map[string]any{"command": v}
		}
		return v
	}
	var marshaler json.Marshaler
	var nilFails *fails
	long := new(big.Int).Exp(big.NewInt(10), big.NewInt(5000), nil)
	return map[string]any{
		"nil struct": (*edit)(nil), "nil map": map[string]string(nil), "nil list": []string(nil), "nil bytes": []byte(nil),
		"nil marshaler": nilFails, "nil text marshaler": (*panicsOnNil)(nil), "nil marshaler in a list": []json.Marshaler{marshaler, nilFails},
		"nil number": (*big.Int)(nil), "nil time": (*time.Time)(nil), "nil raw": json.RawMessage(nil), "nil pointer in it": []*string{nil, pointer},
		"cyclic map": in, "cyclic list": list, "cyclic struct": ring,
		"NaN": math.NaN(), "infinity": math.Inf(1), "minus infinity": map[string]float32{"command": float32(math.Inf(-1))}, "complex": 1i,
		"1<<63": uint64(1) << 63, "greatest": uint64(math.MaxUint64), "least": int64(math.MinInt64), "minus zero": math.Copysign(0, -1),
		"greatest float": math.MaxFloat64, "least float": math.SmallestNonzeroFloat64, "1e21": 1e21, "2^53+1": int64(1)<<53 + 1, "float32": float32(16777217),
		"raw 1e400": json.RawMessage(`{"command":"rm -rf /","n":1e400}`), "raw -1e400": json.RawMessage(`-1e400`), "raw 1e9999999": json.RawMessage(`[1e9999999]`),
		"raw open": json.RawMessage(`{"command":`), "raw empty": json.RawMessage(``), "raw two": json.RawMessage(`1 2`), "raw twice": json.RawMessage(`{"command":"ls","command":"rm -rf /"}`),
		"raw spaces": json.RawMessage(" \n{\"command\" : \"rm -rf /\"}\t"), "raw bad text": json.RawMessage("{\"command\":\"a\xff\"}"), "raw surrogate": json.RawMessage(`{"command":"\ud800 rm -rf /"}`),
		"bad text": "rm\xff -rf /", "bad key": map[string]any{"comm\xffand": 1}, "two bad keys": map[string]any{"a\xff": 1, "a\xfe": 2},
		"int keys": map[int]string{1: "rm -rf /"}, "uint keys": map[uint8]any{3: in["x"]}, "float keys": map[float64]string{1: "rm -rf /"}, "bool keys": map[bool]string{true: "rm -rf /"},
		"any keys": map[any]any{"command": "rm -rf /"}, "text keys": map[key]string{{"command"}: "rm -rf /"}, "same keys": map[key]string{{"a"}: "1", {"a\xff"}: "2", {"a\xfe"}: "3"},
		"failing keys": map[failingKey]string{{}: "rm -rf /"}, "panicking keys": map[panickingKey]string{{}: "rm -rf /"},
		"channel": make(chan int), "function": func() {}, "channel in it": []any{"ls", map[string]any{"command": make(chan int)}}, "nil channel": (chan int)(nil),
		"panics": panics{"no"}, "panics in it": map[string]any{"command": []any{panics{errors.New("bad")}}}, "runtime error": panics{new(runtime.PanicNilError)}, "panics with nil": panics{},
		"fails": fails{}, "fails in it": []any{1, &edit{Path: "/w"}, fails{}}, "prints rubbish": prints("{rm"), "prints nothing": prints(""), "prints two": prints("1 2"),
		"prints": prints(`{"command":"rm -rf /"}`), "clashing": clashing{left{"rm -rf /"}, right{"git push", "rm -rf /"}}, "quoted": quoted{1, "rm", "git push", pointer},
		"pointer": pointer, "pointers": thrice, "pointer to any": func() *any { var v any = map[string]string{"command": "rm -rf /"}; return &v }(),
		"time": time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), "late time": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "duration": time.Second,
		"big": big.NewInt(7), "great": new(big.Int).Lsh(big.NewInt(1), 200), "long": long, "big value": *big.NewInt(7), "big float": big.NewFloat(1.5), "ratio": big.NewRat(1, 3),
		"number": json.Number("1e400"), "number word": json.Number("rm -rf /"), "number hex": json.Number("0x10"), "number none": json.Number(""), "number long": json.Number(strings.Repeat("9", 6000)),
		"511 deep": deep(509), "at the end": deep(510), "too deep": deep(511), "deeper": deep(600), "deep in Go": struct{ V any }{deep(520)},
		"error": errors.New("rm -rf /"), "context": policy.NewContext(hookc.StopEvent).Set(policy.FieldCwd, "/w"), "bytes": []byte("rm -rf /"), "array": [2]string{"rm -rf /"},
		"NUL": map[string]string{"command": "rm\x00 -rf"}, "NUL key": map[string]string{"comm\x00and": "rm"}, "html": "<rm -rf /> & \u2028",
	}
}

// marshalled is what encoding/json makes of a value, a panic of the value's own
// included.
func marshalled(v any) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return json.Marshal(v)
}

// places are where a host hands over a value of any type: the event, the field
// that an error names, and the road.
func places(eng *hookc.Engine) map[string]func(context.Context, any) (event policy.Event, sent any, d *policy.Decision, err error) {
	type road = func(context.Context, any) (policy.Event, any, *policy.Decision, error)
	call := func(c hookc.Call, e policy.Event, fire func(context.Context, hookc.Call) (*policy.Decision, error)) func(context.Context) (policy.Event, any, *policy.Decision, error) {
		return func(ctx context.Context) (policy.Event, any, *policy.Decision, error) {
			d, err := fire(ctx, c)
			return e, c, d, err
		}
	}
	turn := func(c hookc.Turn, e policy.Event, fire func(context.Context, hookc.Turn) (*policy.Decision, error)) func(context.Context) (policy.Event, any, *policy.Decision, error) {
		return func(ctx context.Context) (policy.Event, any, *policy.Decision, error) {
			d, err := fire(ctx, c)
			return e, c, d, err
		}
	}
	out := map[string]road{
		"tool_input": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return call(hookc.Call{Tool: "Bash", Input: v}, hookc.PreToolExecution, eng.PreTool)(ctx)
		},
		"tool_input.x": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return call(hookc.Call{Tool: "Bash", Input: map[string]any{"x": v}}, hookc.PermissionRequest, eng.Permission)(ctx)
		},
		"mcp.x": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return call(hookc.Call{Tool: "mcp__a__b", MCP: map[string]any{"x": v}}, hookc.PreToolExecution, eng.PreTool)(ctx)
		},
		"tool_result": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return call(hookc.Call{Tool: "Bash", Result: v}, hookc.PostToolExecution, eng.PostTool)(ctx)
		},
		"facts": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return call(hookc.Call{Where: hookc.Where{Facts: map[string]any{"team": v}}, Tool: "Bash"}, hookc.PreToolExecution, eng.PreTool)(ctx)
		},
		"raw": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return call(hookc.Call{Where: hookc.Where{Raw: map[string]any{"x": v}}, Tool: "Bash"}, hookc.PreToolExecution, eng.PreTool)(ctx)
		},
		"messages": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return turn(hookc.Turn{Messages: []any{v}}, hookc.PreLLMRequest, eng.PreModel)(ctx)
		},
		"request_config.x": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return turn(hookc.Turn{RequestConfig: map[string]any{"x": v}}, hookc.PreLLMRequest, eng.PreModel)(ctx)
		},
		"tool_config": func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
			return turn(hookc.Turn{ToolConfig: v}, hookc.ToolSelection, eng.SelectTools)(ctx)
		},
	}
	out["compaction messages"] = func(ctx context.Context, v any) (policy.Event, any, *policy.Decision, error) {
		c := hookc.Compaction{Messages: v, MessageCount: 1}
		d, err := eng.PreAutoCompact(ctx, c)
		return hookc.PreAutoCompact, c, d, err
	}
	return out
}

const looksAtAll = `
facts: {team: {type: string}}
pre_tool_execution: &all
  - {name: secrets, use: secret-guard}
  - {name: expr, deny: 'string(tool_input ?? "") contains "rm -rf" or string(raw ?? "") contains "rm -rf" or facts.team == "rm -rf /" or string(mcp ?? "") contains "rm -rf"', reason: expr}
  - name: rego
    timeout: 1m # of which a busy machine leaves enough
    source: |
      package p
      deny contains "rego" if contains(json.marshal(input), "git push")
      ask contains sprintf("%v", [x]) if { some x; walk(input, [_, x]); is_number(x) }
  - {name: own, use: says}
permission_request: *all
post_tool_execution: [{name: own, use: says}, {name: expr, deny: 'string(tool_result ?? "") contains "rm -rf"'}]
pre_llm_request: [{name: expr, deny: 'string(messages ?? []) contains "rm -rf" or string(request_config ?? {}) contains "rm -rf"'}]
tool_selection: [{name: expr, message: 'string(tool_config ?? {})'}]
pre_auto_compact: [{name: expr, deny: 'string(messages ?? []) contains "rm -rf"'}]
`

// TestNoValueIsLost: whatever a host hands over, an event of Go values decides as
// its JSON does, and one that has none is refused with an error that names the
// field: never let through without it, and no panic of the value's reaches the host.
func TestNoValueIsLost(t *testing.T) {
	eng := engine(t, looksAtAll, hookc.Rules(says))
	refused, decided := 0, 0
	for place, fire := range places(eng) {
		for name, v := range unlike() {
			var event policy.Event
			var sent any
			var got *policy.Decision
			var err error
			require.NotPanics(t, func() { event, sent, got, err = fire(t.Context(), v) }, "%s: %s", place, name)
			text, none := marshalled(sent)
			if none != nil {
				var unfit *hookc.UnfitError
				require.ErrorAs(t, err, &unfit, "%s: %s: encoding/json says %v", place, name, none)
				assert.ErrorContains(t, err, "hookc: "+strings.TrimPrefix(place, "compaction "), "%s: %s", place, name)
				assert.Equal(t, policy.Block, got.Action)
				refused++
				continue
			}
			want, wantErr := eng.FireJSON(t.Context(), event, text)
			require.Equal(t, wantErr == nil, err == nil, "%s: %s: %s: %v, not %v", place, name, text, err, wantErr)
			if err == nil {
				assert.Equal(t, timeless(t, want), timeless(t, got), "%s: %s: %s", place, name, text)
				decided++
			}
		}
	}
	assert.Greater(t, refused, 150)
	assert.Greater(t, decided, 150)
}

// TestNoAnswerIsLost: an answer of a rule or of an action of the host's that holds
// what JSON does not have, or no word of hookc's, is a failure of it.
func TestNoAnswerIsLost(t *testing.T) {
	var answer policy.Result
	answers := rule.Rule{Name: "answers", Doc: "answers", New: func(*policy.Hook, rule.Options) (rule.Made, diag.List) {
		run := func(context.Context, *policy.Context, int) (policy.Result, error) { return answer, nil }
		return rule.Made{Runner: policy.RunnerFunc(run), Effects: policy.Effects{World: policy.WorldWrite, May: policy.AllPowers,
			Writes: policy.FieldPaths(policy.FieldToolInput)}}, nil
	}}
	eng := engine(t, `{pre_tool_execution: [{name: h, use: answers}], tool_selection: [{name: h, use: answers}]}`, hookc.Rules(answers))
	for name, a := range map[string]policy.Result{
		"verdict":      {Verdict: 200},
		"next verdict": {Verdict: policy.Deny + 1},
		"control":      {Control: 9},
		"mode":         {ToolConfig: &policy.ToolConfig{Mode: "none"}},
	} {
		answer = a
		for _, fire := range []func() (*policy.Decision, error){
			func() (*policy.Decision, error) { return eng.PreTool(t.Context(), bash("ls")) },
			func() (*policy.Decision, error) {
				return eng.FireSerial(t.Context(), hookc.PreToolExecution, policy.NewContext("").Set(policy.FieldToolName, "Bash"))
			},
			func() (*policy.Decision, error) { return eng.SelectTools(t.Context(), hookc.Turn{}) },
		} {
			var d *policy.Decision
			require.NotPanics(t, func() { d, _ = fire() }, name)
			if assert.Len(t, d.Failed, 1, name) {
				assert.Equal(t, policy.ErrParse, d.Failed[0].Kind, name)
			}
			_, err := d.MarshalJSON()
			assert.NoError(t, err, name)
		}
	}
	for name, v := range unlike() {
		_, none := marshalled(v)
		answer = policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"x"}}, v)}
		var d *policy.Decision
		require.NotPanics(t, func() { d, _ = eng.PreTool(t.Context(), bash("ls")) }, name)
		if none != nil {
			assert.Len(t, d.Failed, 1, name)
			assert.Equal(t, policy.Block, d.Action, name)
		}
		_, err := d.MarshalJSON()
		assert.NoError(t, err, name)

		tool := func(context.Context, *policy.Context) (map[string]any, error) {
			return map[string]any{"tool_result": v}, nil
		}
		answer = policy.Result{}
		var out *hookc.Outcome
		require.NotPanics(t, func() {
			out, _ = eng.Run(t.Context(), "tool", hookc.Actions{"tool": tool}, policy.NewContext("").Set(policy.FieldToolName, "Bash"))
		}, name)
		if none != nil {
			assert.ErrorContains(t, out.Err, "tool_result", name)
		}
	}
}

// TestNoOptionIsLost: a hook registered at run time with what JSON does not have is
// refused, and changes nothing.
func TestNoOptionIsLost(t *testing.T) {
	eng := engine(t, "{}", hookc.SkipVerify())
	own, tried := eng.Session("s"), 0
	for name, v := range unlike() {
		for place, h := range map[string]hookc.Hook{
			"env":     {Command: "true", Env: map[string]any{"X": v}},
			"options": {Use: "path-guard", Options: map[string]any{"hide": v}},
			"filter":  {Deny: "true", Filter: map[string]any{"tool_name": v}},
			"rules":   {Rules: []map[string]any{{"deny": v}}},
			"set":     {Set: map[string]any{"tool_input.x": v}},
			"timeout": {Command: "true", Timeout: v},
		} {
			_, none := marshalled(v)
			if tried++; none == nil && !depth.Tries(tried, 20) {
				continue // each is compiled
			}
			h.Event, h.Name = "pre_tool_execution", "h"
			var index int
			var err error
			require.NotPanics(t, func() { index, err = own.Register(h) }, "%s: %s", place, name)
			if none != nil {
				require.ErrorContains(t, err, "hook."+place, name)
			}
			if err == nil {
				require.NoError(t, own.Remove(index))
			}
			assert.Empty(t, own.List(), "%s: %s", place, name)
		}
	}
}

// TestAHookIsWhatWasRegistered: what a host does with its values afterwards, and what
// a float64 cannot hold, changes no hook of a session.
func TestAHookIsWhatWasRegistered(t *testing.T) {
	eng := engine(t, "{}")
	own, filter := eng.Session("s"), map[string]any{"tool_name": "Bash"}
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "first", Deny: "true", Filter: filter, When: "tool_input.n == 9007199254740993"})
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "says", Use: "say",
		Options: map[string]any{"result": `{"system_message":"9007199254740993"}`}})
	filter["tool_name"] = "Other"
	register(t, own, hookc.Hook{Event: "pre_tool_execution", Name: "later", Deny: "false"})
	require.NoError(t, eng.Reload(t.Context()))
	d, err := eng.PreTool(t.Context(), in("s", hookc.Call{Tool: "Bash", Input: map[string]any{"n": int64(9007199254740993)}}))
	require.NoError(t, err)
	assert.Equal(t, "first", d.By)
}

// TestSessionsOfAnyName: the hooks of a session are in force for the events that
// name it, however its name is written, and hooks that no event could reach are
// refused.
func TestSessionsOfAnyName(t *testing.T) {
	eng := engine(t, "{}")
	for _, id := range []string{"s", "a\xff", "a\xff\xfe", "\u2028<&>", "\x00", " ", "\ud7ff"} {
		register(t, eng.Session(id), hookc.Hook{Event: "pre_tool_execution", Name: "own", Deny: "true"})
		d, err := eng.PreTool(t.Context(), in(id, bash("ls")))
		require.NoError(t, err)
		assert.Equal(t, "own", d.By, "%q", id)
		text, err := json.Marshal(in(id, bash("ls")))
		require.NoError(t, err)
		d, err = eng.FireJSON(t.Context(), hookc.PreToolExecution, text)
		require.NoError(t, err)
		assert.Equal(t, "own", d.By, "%q", id)
		eng.Session(id).Close()
		d, err = eng.PreTool(t.Context(), in(id, bash("ls")))
		require.NoError(t, err)
		assert.Empty(t, d.By, "%q", id)
	}
	_, err := eng.Session("").Register(hookc.Hook{Event: "pre_tool_execution", Name: "own", Deny: "true"})
	assert.Error(t, err, "no event is of the session without a name")
	own := eng.Session("gone")
	own.Close()
	if _, err := own.Register(hookc.Hook{Event: "pre_tool_execution", Name: "own", Deny: "true"}); err == nil {
		d, err := eng.PreTool(t.Context(), in("gone", bash("ls")))
		require.NoError(t, err)
		assert.Equal(t, "own", d.By, "what Register took is in force")
	}
}

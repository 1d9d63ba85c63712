package hookc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// marks numbers the values of a payload, so that each is found again.
type marks struct {
	n    int
	made []string
}

func (m *marks) text() string {
	m.n++
	m.made = append(m.made, fmt.Sprintf("mark%05d", m.n))
	return m.made[len(m.made)-1]
}

// value is one of the type with a mark in it, or one without a mark for what can
// hold none.
func (m *marks) value(t policy.FieldType) any {
	switch t {
	case policy.ObjectType:
		return map[string]any{m.text(): []any{m.text(), map[string]any{"k": m.text()}}}
	case policy.ListType:
		return []any{m.text(), map[string]any{"role": m.text()}}
	case policy.NumberType:
		m.n++
		m.made = append(m.made, fmt.Sprint(70000+m.n))
		return 70000 + m.n
	case policy.BoolType:
		return true
	}
	return m.text()
}

// payload is an event with random keys: names of fields, those that hosts have for
// them, and names of nobody.
func (m *marks) payload(r *rand.Rand, e policy.Event) map[string]any {
	out := map[string]any{"event": string(e), "tool_name": "Bash"}
	for _, f := range policy.Fields() {
		if slices.Contains([]policy.Field{policy.FieldEvent, policy.FieldToolName, policy.FieldFacts, policy.FieldToolArguments, policy.FieldSessionID, policy.FieldCwd}, f) || r.IntN(3) == 0 {
			continue
		}
		out[f.String()] = m.value(f.Spec().Type)
	}
	for _, alias := range []string{"prompt", "prompt_content", "tool_response", "tool_output", "error", "prompt_response", "last_assistant_message"} {
		if r.IntN(3) == 0 {
			out[alias] = m.text()
		}
	}
	for range r.IntN(4) {
		out["own_"+m.text()] = m.value(policy.ObjectType)
	}
	return out
}

// TestNothingIsLost: what a host sends is in what hooks read, in a field of the event
// or in raw, by every road: as a struct, as bytes, as a Context, to rules, to scripts
// and to hooks of a session.
func TestNothingIsLost(t *testing.T) {
	const dump = `source: "package p\n\nmessage contains json.marshal(input)"`
	var text strings.Builder
	dir := t.TempDir()
	for _, e := range policy.Events() {
		fmt.Fprintf(&text, "%s:\n  - {name: dump, %s}\n", e, dump)
	}
	eng := engine(t, text.String())
	scripts := engine(t, strings.ReplaceAll(text.String(), dump, fmt.Sprintf(`command: 'cat >%s/stdin'`, dir)))
	sessions := must(hookc.Open(t.Context(), hookc.NoPolicy()))
	t.Cleanup(func() { sessions.Close() })
	for _, e := range policy.Events() {
		register(t, sessions.Session("s"), hookc.Hook{Event: string(e), Name: "dump", Source: "package p\n\nmessage contains json.marshal(input)"})
	}
	roads := map[string]func(e policy.Event, data []byte) string{
		"bytes": func(e policy.Event, data []byte) string {
			return heard(eng.FireJSON(t.Context(), e, data))
		},
		"context": func(e policy.Event, data []byte) string {
			in, _, err := policy.DecodeContext(data)
			require.NoError(t, err)
			return heard(eng.Fire(t.Context(), e, in))
		},
		"map": func(e policy.Event, data []byte) string {
			var m map[string]any
			require.NoError(t, json.Unmarshal(data, &m))
			in, _, err := policy.ContextFromMap(m)
			require.NoError(t, err)
			return heard(eng.FireInto(t.Context(), e, in, new(hookc.Reused)))
		},
		"session": func(e policy.Event, data []byte) string {
			return heard(sessions.FireJSON(t.Context(), e, data))
		},
	}
	r := rand.New(rand.NewPCG(15, 25))
	script := func(e policy.Event, data []byte) string {
		must(scripts.FireJSON(t.Context(), e, data))
		return string(must(os.ReadFile(filepath.Join(dir, "stdin"))))
	}
	for i := range depth.Of(1600) {
		var m marks
		e := policy.Events()[r.IntN(len(policy.Events()))]
		payload := m.payload(r, e)
		payload["session_id"] = "s"
		data := must(policy.EncodeJSON(payload))
		for name, road := range roads {
			holds(t, m.made, road(e, data), name, data)
		}
		if i%40 == 0 {
			holds(t, m.made, script(e, data), "script", data)
		}
	}
	for _, agent := range []string{"claude", "codex", "gemini", "qwen"} {
		for line := range bytes.Lines(must(os.ReadFile(filepath.Join("tests", "testdata", "sent", agent+".jsonl")))) {
			v := must(policy.DecodeJSON(line)).(map[string]any)
			e, ok := policy.ParseEvent(fmt.Sprint(v["hook_event_name"]))
			if !ok {
				continue // an event that only this agent has
			}
			v["session_id"] = "s"
			line = must(policy.EncodeJSON(v))
			for name, road := range roads {
				holds(t, leaves(v), road(e, line), name, line)
			}
		}
	}
	for _, c := range []struct {
		of   any
		fire func(v reflect.Value) (*policy.Decision, error)
	}{
		{hookc.Call{}, func(v reflect.Value) (*policy.Decision, error) {
			return eng.PreTool(t.Context(), v.Interface().(hookc.Call))
		}},
		{hookc.Turn{}, func(v reflect.Value) (*policy.Decision, error) {
			return eng.Stop(t.Context(), v.Interface().(hookc.Turn))
		}},
		{hookc.Subagent{}, func(v reflect.Value) (*policy.Decision, error) {
			return eng.SubagentStart(t.Context(), v.Interface().(hookc.Subagent))
		}},
		{hookc.Compaction{}, func(v reflect.Value) (*policy.Decision, error) {
			return eng.PreAutoCompact(t.Context(), v.Interface().(hookc.Compaction))
		}},
		{hookc.Notification{}, func(v reflect.Value) (*policy.Decision, error) {
			return eng.Notify(t.Context(), v.Interface().(hookc.Notification))
		}},
	} {
		var m marks
		v := reflect.New(reflect.TypeOf(c.of)).Elem()
		for _, f := range reflect.VisibleFields(v.Type()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if field, known := policy.ParseField(name); known && field != policy.FieldFacts {
				v.FieldByIndex(f.Index).Set(reflect.ValueOf(m.value(field.Spec().Type)).Convert(f.Type))
			}
		}
		holds(t, m.made, heard(c.fire(v)), "struct", nil)
	}
}

func heard(d *policy.Decision, err error) string {
	if err != nil {
		return err.Error()
	}
	return strings.Join(d.SystemMessages, "\n")
}

func holds(t *testing.T, marks []string, text, road string, data []byte) {
	t.Helper()
	for _, m := range marks {
		assert.Contains(t, text, m, "%s loses it of %s", road, data)
	}
}

// leaves are the texts and numbers in a value.
func leaves(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if key != "hook_event_name" {
				out = append(out, leaves(e)...)
			}
		}
	case []any:
		for _, e := range v {
			out = append(out, leaves(e)...)
		}
	case string:
		text := strings.Trim(string(must(json.Marshal(v))), `"`)
		out = append(out, text)
	}
	return out
}

package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// odd are texts on which readers of JSON disagree.
var odd = []string{
	``, ` `, `{}`, `[]`, ` {"a":1} `, `{"a":1}x`, `{"a":1,}`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`,
	`{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":1,"\u0061":2}`, `nul`, `nullx`, `true`, `truefalse`, `tru`,
	`0`, `-0`, `01`, `-`, `+1`, `.5`, `1.`, `1.5`, `1e`, `1e+`, `1E5`, `1e400`, `-1e-400`, `123456789012345`, `1234567890123456789`,
	`12345678901234567890`, `0.1`, `1.0`, `100000000000000000000000`, `-9223372036854775808`,
	`"a\nb"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\x"`, `"\u12g4"`, `"\u12"`, `"\`, `"a`, "\"a\tb\"", "\"a\nb\"", "\"\x7f\"",
	"\"\xff\"", "\"a\xc3\x28b\"", "\"\xed\xa0\x80\"", "\"\xe2\x82\"", "{\"\xff\":1,\"\ufffd\":2}", "\xef\xbb\xbf{}", "\"1234567\x01\"", "\"12345678\\\"9\"",
	strings.Repeat("[", 511) + strings.Repeat("]", 511), strings.Repeat("[", 512) + strings.Repeat("]", 512),
	strings.Repeat("[", 513) + strings.Repeat("]", 513), strings.Repeat("[", 514) + strings.Repeat("]", 514), strings.Repeat(`{"a":`, 600) + "1" + strings.Repeat("}", 600),
	`{"tool_name":"Bash","tool_input":{"command":"ls","x":[1,{"y":"}"}]},"event":"pre_tool_execution"}`,
	`{"tool_name":"Bash","tool_input":{"x":{"y":2}}}`, `{"session_id":"s","cwd":"/a","tool_name":"Read"}`,
	`{"tool_name":"Bash","tool_input":{"command":"ls","command":"rm"}}`, `{"tool_input":{"x":{"k":1,"k":2},"command":"ls"}}`,
	`{"prompt":"a","user_input":"b"}`, `{"event":"stop","hook_event_name":"PreToolUse"}`, `{"event":"stop","hook_event_name":"Stop"}`,
	`{"tool_arguments":"{\"command\":\"ls\"}"}`, `{"raw":{"a":1}}`, `{"raw":{"a":1},"b":2}`, `{"b":1,"c":{"d":[]},"b":2}`, `{"tool_name":3}`, `{"messages":{}}`,
	`{"tool_name":null,"tool_input":null}`, `{"\u0074ool_name":"Bash"}`, `{"command":"x"}`, `{"cwd":"/a","work_dir":"/b"}`, `{"tool_result":[1,2],"step_count":1.5}`,
	`{"toolInput":{"command":"ls"}}`, `{"Tool-Arguments":"{}","tool_input":{}}`, `{"tool_input":null,"toolinput":{}}`,
}

// projections are what the tests want of an event.
var projections = func() []*Projection {
	of := func(paths ...string) Paths {
		var out []Path
		for _, p := range paths {
			path, err := ParsePath(p)
			if err != nil {
				panic(err)
			}
			out = append(out, path)
		}
		return NewPaths(out...)
	}
	return []*Projection{
		WholeProjection(), NewProjection(Paths{}, Paths{}), NewProjection(of("tool_name", "tool_input.command"), Paths{}),
		NewProjection(of("command"), Paths{}), NewProjection(of("messages", "raw.b"), Paths{}), NewProjection(of("raw", "user_input"), of("tool_input.x")),
		NewProjection(of("tool_input.x.y", "tool_input.command", "tool_result"), Paths{}),
	}
}()

// checkScan compares the one-pass reader with the standard library's.
func checkScan(t *testing.T, data []byte) {
	s := newScanner(data)
	v, ok := s.Value(0)
	ok = ok && s.End()
	want, err := decodeSlowly(data, 0)
	if ok {
		require.NoError(t, err, "%q is taken", data)
		require.Equal(t, want, v, "%q", data)
	} else if err == nil {
		require.Greater(t, deepest(want), maxDepth-2, "%q is refused", data)
	}
	k := newScanner(data)
	if skipped := k.Skip(0) && k.End(); skipped && err != nil {
		require.ErrorContains(t, err, "appears twice", "%q is skipped", data)
	} else if !skipped && err == nil {
		require.Greater(t, deepest(want), maxDepth-2, "%q is not skipped", data)
	}
}

func deepest(v any) int {
	most := 0
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			most = max(most, 1+deepest(e))
		}
	case []any:
		for _, e := range v {
			most = max(most, 1+deepest(e))
		}
	}
	return most
}

// checkProjection compares a projected decoding with the whole one reduced.
func checkProjection(t *testing.T, data []byte) {
	whole, event, err := DecodeContext(data)
	var last *Context
	for n := range 3 * len(projections) { // the second time of what was decoded before, the third in the memory of another
		i, p, over := n/3, projections[n/3], n%3 == 2
		e := []Event{PreToolExecution, StopEvent, "ext.Own"}[len(data)%3]
		if over {
			last = used(t, n)
			Spare(last)
		}
		c, name, failed := p.DecodeFor(e, data, last)
		if over && failed == nil {
			fresh, _, err := p.DecodeFor(e, data, nil)
			require.NoError(t, err)
			require.Equal(t, fresh, c, "projection %d of %q", i, data)
		}
		last = c
		if err != nil {
			if failed == nil {
				require.ErrorContains(t, err, "appears twice", "projection %d of %q", i, data)
			}
			continue
		}
		require.NoError(t, failed, "projection %d of %q", i, data)
		require.Equal(t, event, name, "%q", data)
		want := whole.Frozen(e)
		if i > 0 {
			want = p.reduce(want)
		}
		for f := range numFields {
			if !f.Derived() {
				a, hasA := want.Get(f)
				b, hasB := c.Get(f)
				require.Equal(t, hasA, hasB, "%s in projection %d of %q", f, i, data)
				require.Equal(t, a, b, "%s in projection %d of %q", f, i, data)
			}
		}
	}
}

// used is an event that was decided: what is derived of it is there. What could not be
// read was read into its memory before, of some.
func used(t *testing.T, n int) *Context {
	all := NewProjection(NewPaths(Path{Field: FieldMessages}, Path{Field: FieldToolInput, Keys: []string{"command"}}, Path{Field: FieldRaw}), Paths{})
	c, _, err := all.DecodeFor(PreToolExecution, []byte(`{"event":"pre_tool_execution","session_id":"s","cwd":"/a","project_root":"/a","tool_name":"Bash",
		"tool_input":{"command":"rm -rf /","file_path":"x"},"odd":[1],"messages":[{"role":"user","content":"x"}]}`), nil)
	require.NoError(t, err)
	for f := range numFields {
		c.Get(f)
	}
	c.Memo(FieldShell, func(*Context) any { return 1 })
	if n%2 == 1 {
		Spare(c)
		_, _, err := all.DecodeFor(StopEvent, []byte(`{"tool_name":"Read","cwd":"/b","tool_input":{"command":"ls"},"session_id":`), c)
		require.Error(t, err)
	}
	return c
}

func TestScan(t *testing.T) {
	for _, text := range odd {
		checkScan(t, []byte(text))
		checkProjection(t, []byte(text))
		for n := range 9 { // every place in a word of eight bytes
			checkScan(t, []byte(strings.Repeat(" ", n)+text))
			checkScan(t, []byte(`["`+strings.Repeat("x", n)+`",`+text+`]`))
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range odd {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkScan(t, data)
		checkProjection(t, data)
	})
}

// TestProjectionLeavesOut: what is not wanted is absent, and a key repeated on
// a path that is wanted is refused.
func TestProjectionLeavesOut(t *testing.T) {
	p := NewProjection(NewPaths(Path{Field: FieldToolName}, Path{Field: FieldToolInput, Keys: []string{"command"}}), Paths{})
	c, event, err := p.DecodeFor(PreToolExecution, []byte(`{"event":"pre_tool_execution","messages":[{"role":"user","content":"x"}],"tool_name":"Bash","tool_input":{"command":"ls","more":[1]},"odd":1}`), nil)
	require.NoError(t, err)
	assert.Equal(t, "pre_tool_execution", event)
	assert.Equal(t, []Field{FieldEvent, FieldToolName, FieldToolInput}, c.Fields())
	v, _ := c.Get(FieldToolInput)
	assert.Equal(t, map[string]any{"command": "ls"}, v)
	_, _, err = p.DecodeFor(PreToolExecution, []byte(`{"tool_input":{"command":"ls","command":"rm"}}`), nil)
	assert.EqualError(t, err, `key "command" appears twice`)
	_, _, err = p.DecodeFor(PreToolExecution, []byte(`{"tool_name":"a","tool_name":"b"}`), nil)
	assert.EqualError(t, err, `key "tool_name" appears twice`)
}

// event makes an event with a conversation of n messages.
func conversation(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"event":"pre_tool_execution","session_id":"s1","cwd":"/repo","tool_name":"Bash","tool_input":{"command":"git status && make test","description":"look"},"messages":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":"message %d: %s"}`, i, strings.Repeat("the quick brown fox \\n", 40))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkDecode(b *testing.B) {
	p := projections[2]
	for _, n := range []int{1, 200} {
		data := conversation(n)
		b.Run(fmt.Sprintf("projected/%dKB", len(data)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := p.DecodeFor(PreToolExecution, data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("whole/%dKB", len(data)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := DecodeContext(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("library/%dKB", len(data)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decodeSlowly(data, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

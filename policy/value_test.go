package policy

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type inner struct {
	Deep  *inner         `json:"deep,omitempty"`
	Bad   float64        `json:"bad"`
	Plain map[string]any `json:"-"`
}

type outer struct {
	inner
	List []any
}

// What JSON does not have is named by its path, at whatever depth and in
// whatever Go type it is.
func TestErrorsNameThePath(t *testing.T) {
	ring := map[string]any{}
	ring["next"] = []any{ring}
	chain := &inner{}
	chain.Deep = &inner{Deep: chain}
	deep := any("x")
	for range maxDepth + 1 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{math.NaN(), "v is no JSON value"},
		{map[string]any{"a": []any{1, math.Inf(1)}}, "v.a[1] is no JSON value"},
		{map[string][]func(){"a": {nil}}, "v.a[0] is no JSON value"},
		{outer{inner: inner{Bad: 1, Deep: &inner{Bad: math.NaN()}}}, "v.deep.bad is no JSON value"},
		{outer{List: []any{map[int]any{7: make(chan int)}}}, "v.List[0].7 is no JSON value"},
		{ring, "v.next[0] is no JSON value: it holds itself"},
		{chain, "v.deep.deep is no JSON value: it holds itself"},
		{json.RawMessage(`{"a":1,"a":2}`), "v is no JSON value"},
		{map[string]any{"n": json.Number("1e1000000")}, "v.n is no JSON value"},
		{deep, "is no JSON value"},
	} {
		_, err := JSONValue(c.value, "v")
		require.Error(t, err, c.want)
		assert.Contains(t, err.Error(), c.want)
		in := NewContext(PostToolExecution).Set(FieldToolResult, c.value)
		require.ErrorContains(t, in.Err(), "tool_result")
		assert.False(t, in.Has(FieldToolResult))
		assert.Error(t, in.Frozen(PostToolExecution).Err())
		assert.Error(t, in.With(Replace(Path{Field: FieldToolError}, "x")).Err())
	}
}

// What is JSON already is returned as it is.
func TestPlainValuesAreNotCopied(t *testing.T) {
	v := map[string]any{"command": "ls", "n": 3, "f": 0.5, "list": []any{"a", nil, true, map[string]any{}}}
	out, err := JSONValue(v, "v")
	require.NoError(t, err)
	v["marker"] = true
	assert.Contains(t, out, "marker")
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = JSONValue(v, "v") }))
}

func BenchmarkJSONValue(b *testing.B) {
	v := map[string]any{"command": "git status --short", "timeout": 1000, "description": "looks at the tree"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := JSONValue(v, "tool_input"); err != nil {
			b.Fatal(err)
		}
	}
}

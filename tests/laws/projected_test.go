package laws

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
)

// TestProjectedDecode: of what an event carries, its plan's projection takes
// all that can be observed (the optional pass project; issue 5). Random
// policies decide an event decoded whole, and decoded for its plan. What is
// sent is more than the generator's events have: fields nobody reads, and more
// keys in the objects somebody does. Killed by a projection without what hooks
// write, by one without what filters read, and by one that took a script
// without declarations for one that reads nothing.
func TestProjectedDecode(t *testing.T) {
	saved, changed := 0, 0
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(3000)) {
			w := newWorld(seed)
			for _, h := range w.policy.Hooks { // mock rules add context, which real ones say
				h.Body.Context = diag.Literal("x")
			}
			prog := w.compile(t)
			data := padded(t, w, w.context(0))
			whole, _, err := policy.DecodeContext(data)
			require.NoError(t, err)
			few, _, err := prog.Projection(w.fixture.event).DecodeFor(w.fixture.event, data, nil)
			require.NoError(t, err)
			require.Equal(t, w.fixture.event, policy.Event(few.Text(policy.FieldEvent)))
			want, d := w.fire(t, prog, whole)
			got, e := w.fire(t, prog, few)
			sameFields(t, d.Final, e.Final)
			want.final, got.final = "", ""
			require.Equal(t, want, got, "seed %d", seed)
			if len(few.Fields()) < len(whole.Frozen(w.fixture.event).Fields()) {
				saved++
			}
			if len(d.Patch) > 0 {
				changed++
			}
		}
	})
	require.Greater(t, saved, depth.Least(500))
	require.Greater(t, changed, depth.Least(100))
}

// padded is an event as JSON with more in it than the hooks know of.
func padded(t *testing.T, w *world, in *policy.Context) []byte {
	m := in.Map()
	delete(m, policy.FieldToolArguments.String())
	delete(m, policy.FieldToolKind.String())
	for _, f := range []policy.Field{policy.FieldMessages, policy.FieldSystemPrompt, policy.FieldToolInput, policy.FieldRequestConfig, policy.FieldUserInput} {
		if m[f.String()] != nil {
			continue
		}
		switch f.Spec().Type {
		case policy.StringType:
			m[f.String()] = "long " + f.String()
		case policy.ListType:
			m[f.String()] = []any{map[string]any{"role": "user", "content": []any{1, 2.5, nil}}}
		case policy.ObjectType:
			m[f.String()] = map[string]any{"a": "0", "more": map[string]any{"x": true}}
		}
	}
	m["of_the_host"] = w.seed
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return text
}

// sameFields: what a partly decoded context has, the whole one has too.
func sameFields(t *testing.T, whole, part *policy.Context) {
	for _, f := range part.Fields() {
		got, _ := part.Get(f)
		want, ok := whole.Get(f)
		require.True(t, ok, f)
		few, object := got.(map[string]any)
		if !object {
			require.True(t, policy.SameValue(want, got), fmt.Sprint(f, " ", want, " ", got))
			continue
		}
		for k, v := range few {
			require.True(t, policy.SameValue(want.(map[string]any)[k], v), fmt.Sprint(f, " ", k))
		}
	}
}

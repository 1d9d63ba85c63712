package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var wholeInput = Path{Field: FieldToolInput}

// TestPassingEditsEndWithTheHooks: what only hooks see is applied like any
// other edit, hides nothing of the answer, and is no part of it.
func TestPassingEditsEndWithTheHooks(t *testing.T) {
	in := NewContext(PreToolExecution).Set(FieldToolInput, map[string]any{"old": true})
	mask := Replace(Path{Field: FieldToolInput, Keys: []string{"b"}}, 2)
	handed := Replace(wholeInput, map[string]any{"a": 1}).Transient()
	for name, p := range map[string]Patch{"after": mask.Then(handed), "before": handed.Then(mask)} {
		last, _ := in.With(p.Lasting()).Get(FieldToolInput)
		assert.Equal(t, map[string]any{"old": true, "b": 2}, last, name)
	}
	seen, _ := in.With(handed.Then(mask)).Get(FieldToolInput)
	assert.Equal(t, map[string]any{"a": 1, "b": 2}, seen)
	again := handed.Then(Replace(wholeInput, map[string]any{}).Transient())
	assert.Len(t, again.Edits(), 1, "of two that only hooks see the later one is enough")
	narrow, dropped := handed.Within(NewPaths(Path{Field: FieldToolInput, Keys: []string{"a"}}))
	assert.Empty(t, dropped)
	require.Len(t, narrow.Edits(), 1)
	assert.True(t, narrow.Edits()[0].Transient)
	assert.True(t, handed.Lasting().Empty())
}

// TestAgentAnswersAreJoinedInOrder: whatever is grouped first.
func TestAgentAnswersAreJoinedInOrder(t *testing.T) {
	one := func(name string) Result { return Result{Agent: []AgentAnswer{{By: By{Name: name}}}} }
	for _, fold := range []Fold{FoldMax, FoldFirst} {
		x, y, z := one("x"), one("y"), one("z")
		left, right := Join(fold, Join(fold, x, y), z), Join(fold, x, Join(fold, y, z))
		assert.Equal(t, left, right)
		assert.Equal(t, []AgentAnswer{{By: By{Name: "x"}}, {By: By{Name: "y"}}, {By: By{Name: "z"}}}, left.Agent)
		assert.False(t, left.Quiet())
	}
}

// TestRecheckOfAgentAnswers: the copy adds a refusal it did not give before,
// and nothing else.
func TestRecheckOfAgentAnswers(t *testing.T) {
	deny := AgentAnswer{By: By{Name: "h"}, Value: map[string]any{"decision": "deny"}, Verdict: Deny}
	allow := AgentAnswer{By: By{Name: "h"}, Value: map[string]any{"systemMessage": "m"}}
	before := Result{Agent: []AgentAnswer{allow}}
	assert.Equal(t, []AgentAnswer{deny}, Result{Agent: []AgentAnswer{deny}}.Recheck(&before).Agent)
	assert.Empty(t, Result{Agent: []AgentAnswer{allow}}.Recheck(&Result{}).Agent, "texts are not said twice")
	assert.Empty(t, Result{Agent: []AgentAnswer{deny}}.Recheck(&Result{Agent: []AgentAnswer{deny}}).Agent)
}

// TestPassingPatchesCompose: applying two is applying their composition, with
// edits that only hooks see among them.
func TestPassingPatchesCompose(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		some := func() Patch {
			var p Patch
			for range rng.IntN(3) {
				path := Path{Field: FieldToolInput}
				for range rng.IntN(2) {
					path.Keys = append(path.Keys, string(rune('a'+rng.IntN(2))))
				}
				one := Replace(path, map[string]any{"a": rng.IntN(3)})
				if rng.IntN(2) == 0 {
					one = one.Transient()
				}
				p = p.Then(one)
			}
			return p
		}
		in := NewContext(PreToolExecution).Set(FieldToolInput, map[string]any{"a": 0})
		p, q := some(), some()
		assert.Equal(t, in.With(p).With(q).Map(), in.With(p.Then(q)).Map())
		assert.Equal(t, in.With(p.Lasting()).With(q.Lasting()).Map(), in.With(p.Then(q).Lasting()).Map())
	}
}

// TestAlone is what the trace shows of a hook.
func TestAlone(t *testing.T) {
	r := Result{Agent: []AgentAnswer{{Verdict: Ask, Control: Halt}}}
	v, c := r.Alone()
	assert.Equal(t, []any{Ask, Halt}, []any{v, c})
	r = Result{Verdict: Deny}
	v, _ = r.Alone()
	assert.Equal(t, Deny, v)
}

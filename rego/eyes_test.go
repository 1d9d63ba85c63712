package rego

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// corrupt makes native code that is wrong: its first entry point is code of
// another rule, which says nothing of rm.
func corrupt(t *testing.T, n *Native) {
	t.Helper()
	wrong, _ := compiled(t, guard(`deny contains "no rm" if input.command == "never"`)).Native()
	n.code, n.slots = wrong.code, wrong.slots
}

func watchedGuard(t testing.TB, e *Eyes, source string) *Native {
	t.Helper()
	h := guard(source)
	h.Timeout = time.Minute
	n, engine := compiled(t, h).Native()
	require.NotNil(t, n, engine)
	n.Watch(e, h)
	return n
}

const noRm = `deny contains "no rm" if input.command == "rm"`

// One wrong answer leaves at most: while a path is looked at topdown decides the
// events that take it, and code that was wrong is never asked again, in no plan.
func TestWrongCodeIsRejected(t *testing.T) {
	var mu sync.Mutex
	var delivered []Difference
	e := NewEyes(false, nil, func(d Difference) {
		mu.Lock()
		defer mu.Unlock()
		delivered = append(delivered, d)
	})
	n, twin := watchedGuard(t, e, noRm), watchedGuard(t, e, noRm)
	twin.digest() // of the code as it is
	n.digest()
	corrupt(t, n)
	wrong := 0
	for range 50 {
		contribution, err := n.Run(t.Context(), bash("rm"), 0)
		require.NoError(t, err)
		if contribution.Verdict != policy.Deny {
			wrong++
		}
	}
	e.Close()
	assert.Equal(t, 1, wrong)
	require.Len(t, delivered, 1)
	assert.Equal(t, "none go", delivered[0].Native)
	assert.Equal(t, "deny go, no rm", delivered[0].Topdown)
	assert.Contains(t, delivered[0].Module, noRm)
	assert.Equal(t, map[string]any{"command": "rm"}, delivered[0].Event)
	assert.True(t, twin.Wrong(), "another plan of the same code")
	assert.Len(t, e.Rejected(), 1)

	again := watchedGuard(t, NewEyes(false, e.Rejected(), nil), noRm)
	assert.True(t, again.Wrong(), "what was kept holds for the next process")
}

// Together with other rules it is the same.
func TestWrongCodeIsRejectedTogether(t *testing.T) {
	e := NewEyes(false, nil, nil)
	n := watchedGuard(t, e, noRm)
	other := watchedGuard(t, e, `deny contains "no mv" if input.command == "mv"`)
	n.digest()
	corrupt(t, n)
	f := FuseNative([]*Native{n, other})
	wrong := 0
	for range 50 {
		contribution := make([]dag.FusedAnswer, 2)
		require.NoError(t, f.Run(t.Context(), bash("rm"), dag.Choose([]int{0, 1}), contribution))
		if contribution[0].Alone {
			r, err := n.Run(t.Context(), bash("rm"), 0)
			require.NoError(t, err)
			contribution[0].Result = &r
		}
		if contribution[0].Result == nil || contribution[0].Result.Verdict != policy.Deny {
			wrong++
		}
	}
	e.Close()
	assert.Equal(t, 1, wrong)
	assert.Len(t, e.Rejected(), 1)
}

// Code that was wrong elsewhere is not believed on paths either that it was right
// on before.
func TestRejectedCodeIsNotBelievedOnKnownPaths(t *testing.T) {
	e := NewEyes(false, nil, nil)
	n, other := watchedGuard(t, e, noRm), watchedGuard(t, e, `deny contains "no mv" if input.command == "mv"`)
	f := FuseNative([]*Native{n, other})
	for range 3 {
		require.NoError(t, f.Run(t.Context(), bash("ls"), dag.Choose([]int{0, 1}), make([]dag.FusedAnswer, 2)))
		_, err := n.Run(t.Context(), bash("ls"), 0)
		require.NoError(t, err)
		e.Close()
	}
	e.reject(Difference{Code: n.digest(), Hook: "guard"})
	contribution := make([]dag.FusedAnswer, 2)
	require.NoError(t, f.Run(t.Context(), bash("ls"), dag.Choose([]int{0, 1}), contribution))
	assert.Equal(t, []bool{true, false}, []bool{contribution[0].Alone, contribution[1].Alone})
	_, err := n.Run(t.Context(), bash("ls"), 0)
	require.NoError(t, err)
	assert.True(t, n.rejected.Load())
}

// OPA panics where json.patch leaves nothing: that is a failure of the rule, in
// topdown, in native code and where topdown is asked beside the event.
func TestPatchThatLeavesNothing(t *testing.T) {
	const source = `deny contains "x" if json.patch({"a": input.command}, [{"op": "remove", "path": ""}]) == 1`
	_, err := compiled(t, guard(source)).Run(t.Context(), bash("rm"), 0)
	assert.ErrorContains(t, err, "json.patch: no result")
	e := NewEyes(false, nil, nil)
	_, err = watchedGuard(t, e, source).Run(t.Context(), bash("rm"), 0)
	assert.ErrorContains(t, err, "json.patch: no result")
	e.Close()
}

// A panic beside an event does not end the process.
func TestPanicBesideAnEvent(t *testing.T) {
	e := NewEyes(false, nil, nil)
	n := watchedGuard(t, e, noRm)
	n.digest()
	n.module = func() (*Module, error) { panic("a bug of OPA") }
	contribution, err := n.Run(t.Context(), bash("rm"), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, contribution.Verdict)
	e.Close()
	assert.Empty(t, e.Rejected())
}

// Paranoid lets nothing wrong leave.
func TestParanoid(t *testing.T) {
	e := NewEyes(true, nil, nil)
	n := watchedGuard(t, e, noRm)
	n.digest()
	corrupt(t, n)
	contribution, err := n.Run(t.Context(), bash("rm"), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, contribution.Verdict)
	assert.Len(t, e.Rejected(), 1)
}

// Right code is looked at once for each path, and then costs nothing more.
func TestPathsAreLookedAtOnce(t *testing.T) {
	e := NewEyes(false, nil, nil)
	n := watchedGuard(t, e, noRm)
	for range 20 {
		for _, command := range []string{"rm", "ls", "mv"} {
			_, err := n.Run(t.Context(), bash(command), 0)
			require.NoError(t, err)
			e.Close()
		}
	}
	assert.Less(t, e.Checked(), int64(8))
	assert.Empty(t, e.Rejected())
}

// BenchmarkEyes is what eyes cost where all paths were looked at: hooks, and
// hooks that are evaluated together, with eyes on them against the same without,
// by turns. It reports the median of the ratios of many short rounds.
func BenchmarkEyes(b *testing.B) {
	in := bash("git status rm7 --short")
	for _, c := range []struct{ name, source string }{
		{"rule", strings.TrimPrefix(literalRules(1), "package rules\n")},
		{"hundred-rules", strings.TrimPrefix(literalRules(100), "package rules\n")},
		{"rich", strings.TrimPrefix(richRules, "package rules\n")},
	} {
		b.Run(c.name, func(b *testing.B) {
			e := NewEyes(false, nil, nil)
			tell := func(n *Native) func() {
				return func() {
					if _, err := n.Tell(b.Context(), in, 0); err != nil {
						b.Fatal(err)
					}
				}
			}
			againstUnwatched(b, e, tell(unwatched(b, c.source)), tell(watchedGuard(b, e, c.source)))
		})
	}
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n, "-hooks"), func(b *testing.B) {
			e := NewEyes(false, nil, nil)
			tell := func(made func(source string) *Native) func() {
				var list []*Native
				var chosen []int
				for i := range n {
					chosen = append(chosen, i)
					list = append(list, made(fmt.Sprintf("deny contains \"no\" if { input.tool_name == \"Bash\"; contains(input.command, \"rm -%d\") }", i)))
				}
				f, choice, contribution := FuseNative(list), dag.Choose(chosen[1:]), make([]dag.FusedAnswer, n)
				return func() {
					if err := f.Run(b.Context(), in, choice, contribution[1:]); err != nil {
						b.Fatal(err)
					}
				}
			}
			againstUnwatched(b, e, tell(func(source string) *Native { return unwatched(b, source) }),
				tell(func(source string) *Native { return watchedGuard(b, e, source) }))
		})
	}
}

func unwatched(t testing.TB, source string) *Native {
	n, engine := compiled(t, guard(source)).Native()
	require.NotNil(t, n, engine)
	return n
}

func againstUnwatched(b *testing.B, e *Eyes, without, with func()) {
	for range 200 {
		with()
		without()
		e.Close()
	}
	ratioOf(b, "watched/not", 100, 100, with, without)
}

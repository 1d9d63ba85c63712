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

func watchedGuard(t *testing.T, e *Eyes, source string) *Native {
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
	var told []Difference
	e := NewEyes(false, nil, func(d Difference) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, d)
	})
	n, twin := watchedGuard(t, e, noRm), watchedGuard(t, e, noRm)
	twin.digest() // of the code as it is
	n.digest()
	corrupt(t, n)
	wrong := 0
	for range 50 {
		said, err := n.Run(t.Context(), bash("rm"), 0)
		require.NoError(t, err)
		if said.Verdict != policy.Deny {
			wrong++
		}
	}
	e.Close()
	assert.Equal(t, 1, wrong)
	require.Len(t, told, 1)
	assert.Equal(t, "none go", told[0].Native)
	assert.Equal(t, "deny go, no rm", told[0].Topdown)
	assert.Contains(t, told[0].Module, noRm)
	assert.Equal(t, map[string]any{"command": "rm"}, told[0].Event)
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
		said := make([]dag.FusedSaid, 2)
		require.NoError(t, f.Run(t.Context(), bash("rm"), []int{0, 1}, said))
		if said[0].Alone {
			r, err := n.Run(t.Context(), bash("rm"), 0)
			require.NoError(t, err)
			said[0].Result = &r
		}
		if said[0].Result == nil || said[0].Result.Verdict != policy.Deny {
			wrong++
		}
	}
	e.Close()
	assert.Equal(t, 1, wrong)
	assert.Len(t, e.Rejected(), 1)
}

// Paranoid lets nothing wrong leave.
func TestParanoid(t *testing.T) {
	e := NewEyes(true, nil, nil)
	n := watchedGuard(t, e, noRm)
	n.digest()
	corrupt(t, n)
	said, err := n.Run(t.Context(), bash("rm"), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, said.Verdict)
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

// BenchmarkEyes is a hook of a hundred rules with eyes on it, all paths of which
// were looked at, against the same without.
func BenchmarkEyes(b *testing.B) {
	var source strings.Builder
	for i := range 100 {
		fmt.Fprintf(&source, "deny contains \"no %d\" if { input.tool_name == \"Bash\"; contains(input.command, \"rm%d\") }\n", i, i)
	}
	h := guard(source.String())
	m, found := new(Compiler).Compile(h)
	require.Empty(b, found)
	n, _ := m.Native()
	m, _ = new(Compiler).Compile(h)
	watched, _ := m.Native()
	e := NewEyes(false, nil, nil)
	watched.Watch(e, h)
	in := bash("git status rm7 --short")
	ask := func(n *Native) time.Duration {
		start := time.Now()
		for range 200 {
			if _, err := n.Tell(b.Context(), in, 0); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start)
	}
	ask(watched)
	e.Close()
	best := []time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		best[0], best[1] = min(best[0], ask(n)), min(best[1], ask(watched))
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "watched/not")
	b.ReportMetric(float64(best[0])/200, "ns/event")
}

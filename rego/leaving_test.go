package rego

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// leaver leaves the events whose command is no number, and only those: there
// to_number fails.
const leaverSource = `deny contains "seven" if to_number(input.command) == 7
ask contains "mv" if input.tool_name == "mv"`

// leaverHook is such a hook, with a minute: what it says is compared, not how soon.
func leaverHook() *policy.Hook {
	h := guard(leaverSource)
	h.Timeout = time.Minute
	return h
}

func leaverOf(t *testing.T, name string, e *Eyes) *Native {
	h := leaverHook()
	h.Name = name
	n, engine := compiled(t, h).Native()
	require.NotNil(t, n, engine)
	if e != nil {
		n.Watch(e, h)
	}
	return n
}

// spread are n events of which a share of per mille is left, evenly or by chance.
func spread(n, perMille int, even bool) []bool {
	out := make([]bool, n)
	r := rand.New(rand.NewPCG(uint64(perMille), 7))
	for i := range out {
		if even {
			out[i] = perMille > 0 && i%(1000/perMille) == 0
		} else {
			out[i] = r.IntN(1000) < perMille
		}
	}
	return out
}

var leaverEvents = map[bool]*policy.Context{true: bash("rm"), false: bash("8")}

// A rule is topdown's once it left more than one event in a hundred, of two
// hundred at least since the first, and not before; what it says is the same all the
// while.
func TestLeaving(t *testing.T) {
	for _, even := range []bool{true, false} {
		for i, perMille := range []int{0, 1, 2, 5, 10, 20, 50, 100, 250, 500, 1000} {
			if depth.Skips(i) {
				continue
			}
			t.Run(fmt.Sprintf("%d of 1000, even %v", perMille, even), func(t *testing.T) {
				var delivered []Leaving
				e := NewEyes(false, nil, nil)
				e.Leaves(nil, func(l Leaving) { delivered = append(delivered, l) })
				n, m := leaverOf(t, "go", e), compiled(t, leaverHook())
				hosts := 0
				n.CountLeft(func() { hosts++ })
				first, left, of, over := -1, 0, 0, -1
				for i, leaves := range spread(2000, perMille, even) {
					asked := over < 0
					got, gotErr := n.Run(t.Context(), leaverEvents[leaves], 0)
					want, wantErr := m.Run(t.Context(), leaverEvents[leaves], 0)
					require.Equal(t, failureText(wantErr), failureText(gotErr))
					require.Equal(t, want, got)
					if first < 0 && leaves {
						first = i
					} else if first >= 0 && asked {
						of++
						if leaves {
							left++
						}
					}
					if over < 0 && of >= 200 && left*100 > of {
						over = i
					}
				}
				e.Close()
				state, any := n.Left()
				require.Equal(t, first >= 0, any)
				if !any {
					assert.Empty(t, e.Leaving())
					return
				}
				assert.Equal(t, Leaving{Hook: "go", Code: n.digest(), Left: int64(left + 1), Of: int64(of + 1), Over: over >= 0, Why: state.Why}, state)
				assert.Equal(t, "to_number fails at hooks.yaml:5:32: ask first whether its arguments are what it takes", state.Why)
				assert.Equal(t, left+1, hosts)
				assert.Equal(t, []Leaving{state}, e.Leaving())
				if over < 0 {
					assert.Empty(t, delivered)
					assert.Empty(t, n.LeftBefore())
				} else {
					require.Len(t, delivered, 1)
					assert.NotEmpty(t, n.LeftBefore())
				}
				if perMille >= 20 {
					assert.GreaterOrEqual(t, over, 0, "one in fifty is too many")
				}
				if even && perMille <= 10 {
					assert.Less(t, over, 0, "one in a hundred is not too many")
				}
			})
		}
	}
}

// Together with others it is the same, and the others stay native.
func TestLeavingTogether(t *testing.T) {
	for _, perMille := range []int{0, 5, 10, 20, 100, 1000} {
		e := NewEyes(false, nil, nil)
		n, other := leaverOf(t, "go", e), watchedGuard(t, e, noRm)
		m := compiled(t, leaverHook())
		f := FuseNative([]*Native{other, n})
		alone := 0
		for i, leaves := range spread(2000, perMille, true) {
			in, contribution := leaverEvents[leaves], make([]dag.FusedAnswer, 2)
			require.NoError(t, f.Run(t.Context(), in, dag.Choose([]int{0, 1}), contribution))
			require.False(t, contribution[0].Alone)
			got, gotErr := contribution[1].Result, error(nil)
			if contribution[1].Alone {
				if alone++; !leaves && i < 150 {
					assert.Fail(t, "it is native to begin with", "%d", i)
				}
				got, gotErr = n.Tell(t.Context(), in, 0)
			}
			want, wantErr := m.Run(t.Context(), in, 0)
			require.Equal(t, failureText(wantErr), failureText(gotErr))
			if wantErr == nil {
				if got == nil {
					got = new(policy.Result)
				}
				require.Equal(t, want, *got)
			}
		}
		e.Close()
		state, _ := n.Left()
		assert.Equal(t, perMille > 10, state.Over, "%d: %+v", perMille, state)
		if _, any := other.Left(); assert.False(t, any) && !state.Over {
			assert.Equal(t, 2000*perMille/1000, alone)
		}
		if state.Over {
			assert.Equal(t, []int{0}, f.remaining([]int{0, 1}, new([]int)), "it is not evaluated with others any more")
			assert.Equal(t, int64(201), state.Of, "at the first event that may say so")
		}
	}
}

// All plans of the same code count together, and the next process knows.
func TestLeavingIsOfTheCode(t *testing.T) {
	e := NewEyes(false, nil, nil)
	one, two := leaverOf(t, "go", e), leaverOf(t, "go", e)
	for range 150 {
		_, err := one.Run(t.Context(), bash("rm"), 0)
		require.Error(t, err)
		_, err = two.Run(t.Context(), bash("rm"), 0)
		require.Error(t, err)
	}
	assert.NotEmpty(t, one.LeftBefore())
	assert.NotEmpty(t, two.LeftBefore())
	e.Close()
	next := NewEyes(false, nil, nil)
	next.Leaves(e.Leaving(), nil)
	assert.NotEmpty(t, leaverOf(t, "go", next).LeftBefore())
	assert.Empty(t, watchedGuard(t, next, noRm).LeftBefore(), "other code")
}

// What is looked at while nothing was left takes no memory.
func TestLeavingAllocatesNothing(t *testing.T) {
	n := leaverOf(t, "go", nil)
	in := bash("8")
	for _, left := range []int{0, 1, 300} {
		for range left {
			_, err := n.Run(t.Context(), bash("rm"), 0)
			require.Error(t, err)
		}
		if left < 300 {
			got := testing.AllocsPerRun(100, func() { _, _ = n.Tell(t.Context(), in, 0) })
			assert.LessOrEqual(t, got, float64(unpooled))
		}
	}
	assert.NotEmpty(t, n.LeftBefore(), "without eyes it is counted too")
}

// Many at once count right.
func TestLeavingAtOnce(t *testing.T) {
	n := leaverOf(t, "go", nil)
	done := make(chan bool)
	for range 4 {
		go func() {
			for i := range 100 {
				_, _ = n.Run(t.Context(), leaverEvents[i%2 == 0], 0)
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
	state, _ := n.Left()
	assert.True(t, state.Over, "%+v", state)
}

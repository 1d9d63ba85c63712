package hookc

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// hooksNamed is a plan of n hooks.
func hooksNamed(n int) *dag.Plan {
	p := &dag.Plan{Event: policy.PreToolExecution}
	for i := range n {
		p.Nodes = append(p.Nodes, dag.Node{Hook: &policy.Hook{Event: p.Event, Name: fmt.Sprint("h", i)}})
	}
	return p
}

// Counting many hooks together is counting each of them, whoever looks on the
// way, and however many places there are at which chains end early.
// Killed by parts found in the wrong order and by a batch counted twice.
func TestMetricsTogetherAreEachByItself(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{5, maxParts + 50} {
		plan := hooksNamed(n)
		nodes := make([]int, 0, n)
		for i := range n {
			if i%7 != 3 {
				nodes = append(nodes, i)
			}
		}
		together, each, taken := &Metrics{}, &Metrics{}, &Metrics{}
		ran, done := together.together(plan, nodes)
		but, crowdDone := together.filtered(plan)
		count := make([]func(policy.Status, int, time.Duration), n)
		for i := range count {
			count[i] = each.count(&plan.Nodes[i])
		}
		take := func() {
			text, err := json.Marshal(together.Take())
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, taken))
		}
		for k := range 2000 {
			first, took := r.IntN(len(nodes)+1), anyDuration(r)>>20
			if k%3 == 0 { // nobody ends the chain, and all others are filtered
				first = len(nodes)
				but([]int{3})
				count[3](policy.StatusRan, 1, took)
				together.count(&plan.Nodes[3])(policy.StatusRan, 1, took)
				for i := 10; i < n; i += 7 {
					count[i](policy.StatusFiltered, 0, 0)
				}
			}
			ran(first, took, k%3 == 0)
			for _, i := range nodes[:first] {
				count[i](policy.StatusRan, 1, took)
			}
			if k == 1000 {
				take()
			}
		}
		done()
		crowdDone()
		take()
		require.Equal(t, each.List(), taken.List())
		assert.Empty(t, together.List(), "all of it was taken")
		p50, ok := taken.P50(plan.Event, "h0")
		want, _ := each.P50(plan.Event, "h0")
		assert.Equal(t, []any{want, true}, []any{p50, ok})
	}
}

// What is read while batches are counted is whole runs, and none is lost.
func TestMetricsReadWhileCountingTogether(t *testing.T) {
	m, plan := &Metrics{}, hooksNamed(40)
	ran, done := m.together(plan, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	var counting sync.WaitGroup
	for range 2 {
		counting.Go(func() {
			for k := range 20_000 {
				ran(1+k%10, time.Microsecond, false)
			}
		})
	}
	for range 200 {
		for _, h := range m.List() {
			require.Equal(t, h.Runs, h.OK)
		}
	}
	counting.Wait()
	done()
	for i, h := range m.List() {
		require.EqualValues(t, 40_000-4000*i, h.Runs, h.Hook)
		require.Equal(t, time.Duration(h.Runs)*time.Microsecond, h.Total)
	}
}

// Rules of one tool that say nothing are counted together: runs of each, and
// those of other tools as filtered, also where a chain ends before the last, and
// while the plan goes on.
func TestMetricsOfManySilentHooks(t *testing.T) {
	var text strings.Builder
	text.WriteString("pre_tool_execution:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  - {name: r%02d, filter: {tool_name: %s}, source: 'package r\ndeny contains \"no\" if input.tool_input.command == \"no %d\"'}\n",
			i, []string{"Bash", "Edit"}[i%2], i)
	}
	eng, err := Open(t.Context(), Text("hooks.yaml", strings.ReplaceAll(text.String(), "\ndeny", "\n\n      deny")))
	require.NoError(t, err)
	fire := func(tool, command string) *policy.Decision {
		d, err := eng.PreTool(context.Background(), Call{Tool: tool, Input: map[string]any{"command": command}})
		require.NoError(t, err)
		return d
	}
	runs, filtered := map[string]int64{}, map[string]int64{}
	for k := range 30 {
		tool, command := []string{"Bash", "Edit", "Read"}[k%3], fmt.Sprint("no ", k*k)
		for _, h := range fire(tool, command).Hooks {
			switch h.Status {
			case policy.StatusRan:
				runs[h.Name]++
			case policy.StatusFiltered:
				filtered[h.Name]++
			}
		}
		if k%10 != 9 {
			continue
		}
		list := eng.Metrics().List()
		require.Len(t, list, 100)
		for _, m := range list {
			require.Equal(t, []int64{runs[m.Hook], filtered[m.Hook]}, []int64{m.Runs, m.Filtered}, m.Hook)
		}
	}
	require.NoError(t, eng.Close())
	for _, m := range eng.Metrics().List() {
		require.Equal(t, []int64{runs[m.Hook], filtered[m.Hook]}, []int64{m.Runs, m.Filtered}, m.Hook)
	}
}

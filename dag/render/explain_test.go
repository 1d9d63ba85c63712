package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// names lists every hook a model mentions, copies left out.
func names(m *Model) []string {
	var out []string
	for _, e := range m.Events {
		for _, item := range e.Items {
			for _, h := range item.Hooks {
				if h.RecheckOf == "" {
					out = append(out, string(e.Event)+" "+h.Name)
				}
			}
		}
		for _, d := range e.Dead {
			out = append(out, string(e.Event)+" "+d.Name)
		}
		for _, u := range e.Unmatched {
			out = append(out, string(e.Event)+" "+u.Name)
		}
	}
	slices.Sort(out)
	return out
}

// Law 4: explain mentions every loaded hook exactly once, narrowed or not.
func TestEveryHookOnce(t *testing.T) {
	for _, p := range []*dag.Program{mockProgram(), nastyProgram()} {
		var want []string
		for _, e := range p.Hooks {
			want = append(want, string(e.Hook.Event)+" "+e.Hook.Name)
		}
		slices.Sort(want)
		for _, tool := range []string{"", "Bash", "Read", "mcp__other"} {
			assert.Equal(t, want, names(Explain(p, ExplainOptions{Tool: tool})), tool)
		}
	}
}

func shown(e *EventModel) []string {
	var out []string
	for _, item := range e.Items {
		for _, h := range item.Hooks {
			out = append(out, h.ID+" "+h.Label)
		}
	}
	return out
}

func TestNarrowedToTool(t *testing.T) {
	for tool, want := range map[string][]string{
		"":      {"1 path-jail", "2 guard-shell", "3 secret-files", "4 audit", "5 pnpm-rewrite", "2' guard-shell'", "6.1 llm-review", "6.2 secret-scan", "7 confirm-prod"},
		"Bash":  {"2 guard-shell", "3 secret-files", "4 audit", "5 pnpm-rewrite", "2' guard-shell'", "6.1 llm-review", "6.2 secret-scan", "7 confirm-prod"},
		"Shell": {"2 guard-shell", "3 secret-files", "4 audit", "2' guard-shell'", "6.1 llm-review", "6.2 secret-scan"},
		"Edit":  {"1 path-jail", "3 secret-files", "4 audit", "6.2 secret-scan"},
		"Other": {"3 secret-files", "4 audit", "6.2 secret-scan"},
	} {
		m := Explain(mockProgram(), ExplainOptions{Event: policy.PreToolExecution, Tool: tool})
		require.Len(t, m.Events, 1)
		assert.Equal(t, want, shown(&m.Events[0]), tool)
	}
	m := Explain(mockProgram(), ExplainOptions{Event: policy.PreMicroCompact, Tool: "Other"})
	assert.Equal(t, []string{"1 keep-short"}, shown(&m.Events[0]), "an event about no tool is shown whole")
}

// A name the index lets through is still held against the filter's atoms; an
// atom on anything else settles nothing.
func TestMatchingErrsTowardsYes(t *testing.T) {
	plan := guardPlan()
	plan.Index = dag.Index{Always: []int{0, 1, 2, 3, 4, 5, 6, 7, 8}}
	kept := func(tool string) []int {
		keep := plan.Matching(tool)
		var out []int
		for v := range plan.Nodes {
			if keep(v) {
				out = append(out, v)
			}
		}
		return out
	}
	assert.Equal(t, []int{1, 2, 3, 5, 6, 7}, kept("Shell"))
	path := policy.Atom{Key: policy.FilterPath, Field: policy.FieldPath, Reads: []policy.Field{policy.FieldPath},
		Test: func(*policy.Context) bool { return false }}
	plan.Nodes[2].Matcher = &policy.Matcher{Atoms: []policy.Atom{path}}
	assert.Equal(t, []int{1, 2, 3, 5, 6, 7}, kept("Shell"))
}

func TestEstimateOfMock(t *testing.T) {
	plan := guardPlan()
	rules := 13*us + 200
	second := 13*us + 100
	assert.Equal(t, dag.Estimate{
		Serial:    rules + 6*ms + second + 1400*ms + 40*ms,
		Critical:  rules + 6*ms + 13*us + 1400*ms,
		Path:      []string{"pnpm-rewrite", "guard-shell'", "llm-review"},
		FirstDeny: rules,
	}, plan.Estimated(nil))
	assert.Equal(t, dag.Estimate{Serial: 40*ms + 100, Critical: 40*ms + 100, Path: []string{"secret-scan"}, FirstDeny: 100},
		plan.Estimated(plan.Matching("Read")))
	assert.Equal(t, dag.Estimate{}, plan.Estimated(func(int) bool { return false }))
}

// In a plan without processes the path is the rules in the order they run.
func TestEstimateInProcess(t *testing.T) {
	b := newBuilder(policy.PreToolExecution)
	for i := range 3 {
		b.add(decl{name: fmt.Sprint("r", i), kind: policy.KindExpr, may: policy.MayAsk, spec: true, cost: 10 * us})
	}
	assert.Equal(t, dag.Estimate{Serial: 30 * us, Critical: 30 * us, Path: []string{"r0", "r1", "r2"}}, b.done().Estimated(nil))
}

func TestTimeline(t *testing.T) {
	m := Explain(mockProgram(), ExplainOptions{Event: policy.PreToolExecution})
	e := m.Events[0]
	assert.Equal(t, []MomentModel{
		{AtUS: 0, Slot: 0, Hooks: []string{"path-jail", "guard-shell", "secret-files"}},
		{AtUS: 13.2, Slot: -1, Hooks: []string{"audit", "pnpm-rewrite"}},
		{AtUS: 6013.2, Slot: 1, Hooks: []string{"guard-shell'", "confirm-prod"}},
		{AtUS: 6026.2, Slot: -1, Hooks: []string{"llm-review", "secret-scan"}},
	}, e.Timeline)
	assert.Equal(t, []SlotModel{
		{Slot: 0, Hooks: []string{"path-jail", "guard-shell", "secret-files"}, Holds: "1 rego + 2 expr", EstUS: 13.2},
		{Slot: 1, Hooks: []string{"guard-shell'", "confirm-prod"}, Holds: "1 rego + 1 expr", EstUS: 13.1},
	}, e.Slots)
}

// Where a→b→c and b is dropped, c still waits for a; a gate that is dropped
// hands over to the gate before it.
func TestSubKeepsOrder(t *testing.T) {
	b := newBuilder(policy.PreToolExecution)
	write := decl{kind: policy.KindBash, world: policy.WorldWrite, may: policy.MayDeny, cost: ms}
	for _, name := range []string{"a", "b", "c", "d"} {
		write.name = name
		b.add(write)
	}
	for v := 1; v < 4; v++ {
		b.edge(v-1, v, dag.OrderEdge, "both write")
	}
	plan := b.done()
	drop := func(gone ...int) func(int) bool { return func(v int) bool { return !slices.Contains(gone, v) } }
	assert.Equal(t, plan.Edges, plan.Sub(nil))
	assert.Equal(t, []dag.Edge{
		{From: 0, To: 2, Kind: dag.OrderEdge, Why: "by way of b, which does not run"},
		{From: 2, To: 3, Kind: dag.OrderEdge, Why: "both write"},
	}, plan.Sub(drop(1)))
	assert.Equal(t, []dag.Edge{{From: 0, To: 3, Kind: dag.OrderEdge, Why: "by way of c, which does not run"}}, plan.Sub(drop(1, 2)))
	assert.Equal(t, 4*ms, plan.Estimated(nil).Critical)
	assert.Equal(t, 2*ms, plan.Estimated(drop(1, 2)).Critical)

	g := newBuilder(policy.PreToolExecution)
	for _, name := range []string{"a", "b", "c"} {
		write.name = name
		g.add(write)
	}
	g.edge(1, 2, dag.GateEdge, "b may deny")
	assert.Equal(t, []dag.Edge{{From: 0, To: 2, Kind: dag.GateEdge, Why: "a may end the chain"}}, g.done().Sub(drop(1)))

	// What gated b is no concern of c, which only read what b wrote.
	r := newBuilder(policy.PreToolExecution)
	for _, name := range []string{"a", "b", "c"} {
		write.name = name
		r.add(write)
	}
	r.edge(0, 1, dag.GateEdge, "a may deny")
	r.edge(1, 2, dag.DataEdge, "c reads what b writes")
	assert.Empty(t, r.done().Sub(drop(1)))
}

func TestGraph(t *testing.T) {
	g := dag.NewGraph(5, []dag.Edge{{From: 0, To: 1}, {From: 1, To: 3}, {From: 0, To: 3}, {From: 0, To: 3}, {From: 2, To: 3}})
	assert.Equal(t, []int{0, 1, 0, 2, 0}, g.Ranks())
	assert.Equal(t, []int{0, 1, 2}, g.In(3))
	assert.Equal(t, []int{1, 3}, g.Out(0))
	implied := g.Reduced()
	assert.True(t, implied(0, 3))
	assert.False(t, implied(2, 3))
	assert.False(t, implied(0, 1))
	assert.Panics(t, func() { dag.NewGraph(2, []dag.Edge{{From: 1, To: 1}}) })
}

// The estimate never beats the longest path nor loses to the serial sum, and
// it agrees with a naive computation where there are processes only.
func TestEstimateBounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		b := newBuilder(policy.PreToolExecution)
		n := 1 + rnd.IntN(8)
		for i := range n {
			b.add(decl{name: fmt.Sprint("h", i), kind: policy.KindBash, cost: time.Duration(1+rnd.IntN(50)) * ms})
		}
		for to := range n {
			for from := range to {
				if rnd.IntN(3) == 0 {
					b.edge(from, to, dag.OrderEdge, "x")
				}
			}
		}
		plan := b.done()
		var longest, serial time.Duration
		finish := make([]time.Duration, n)
		for v := range n {
			for _, u := range plan.Nodes[v].Wait {
				finish[v] = max(finish[v], finish[u])
			}
			finish[v] += plan.Nodes[v].Cost
			longest, serial = max(longest, finish[v]), serial+plan.Nodes[v].Cost
		}
		assert.Equal(t, longest, plan.Estimate.Critical)
		assert.Equal(t, serial, plan.Estimate.Serial)
		var along time.Duration
		for _, name := range plan.Estimate.Path {
			along += plan.Nodes[b.at[name]].Cost
		}
		assert.Equal(t, longest, along, "the path adds up")
	}
}

// Two copies behind one writer, and two copies of one guard, are told apart.
func TestLabels(t *testing.T) {
	b := newBuilder(policy.PreToolExecution)
	b.add(decl{name: "g", kind: policy.KindExpr, reads: "tool_input"})
	b.add(decl{name: "w", kind: policy.KindBash, writes: "tool_input"})
	b.add(decl{name: "g", kind: policy.KindExpr, reads: "tool_input", recheckOf: "g"})
	b.add(decl{name: "w2", kind: policy.KindBash, writes: "tool_input"})
	b.add(decl{name: "g", kind: policy.KindExpr, reads: "tool_input", recheckOf: "g"})
	p := &dag.Program{Plans: []*dag.Plan{b.done()}}
	p.Seal()
	e := Explain(p, ExplainOptions{}).Events[0]
	assert.Equal(t, []string{"1 g", "2 w", "1' g'", "3 w2", "1'' g''"}, shown(&e))
	assert.Equal(t, "w may change tool_input", e.Items[2].Hooks[0].Because)
	assert.Equal(t, "w, w2 may change tool_input", e.Items[4].Hooks[0].Because)
}

func TestPosture(t *testing.T) {
	m := Explain(mockProgram(), ExplainOptions{Event: policy.PreToolExecution})
	assert.Equal(t, "open", m.Events[0].Posture)
	assert.Equal(t, []OpenModel{{Hook: "llm-review", Why: "on_error skip lets a timeout through"}}, m.Events[0].Open)
	m = Explain(mockProgram(), ExplainOptions{Event: policy.PreToolExecution, Tool: "Read"})
	assert.Equal(t, "closed", m.Events[0].Posture)
	assert.Empty(t, m.Events[0].Open)
}

func TestBreaks(t *testing.T) {
	m := Explain(mockProgram(), ExplainOptions{Event: policy.PreToolExecution})
	assert.Equal(t, []BreakModel{
		{On: []string{"deny", "skip"}, Action: policy.Block, To: policy.LabelTool, Any: true,
			Hooks: []string{"path-jail", "guard-shell", "secret-files", "llm-review", "secret-scan", "confirm-prod"}},
		{On: []string{"stop"}, Action: policy.Abort, To: policy.LabelBatch, Hooks: []string{"llm-review", "secret-scan"}},
		{On: []string{"halt"}, Action: policy.EndTurn, To: policy.LabelTurn, Hooks: []string{"llm-review", "secret-scan"}},
	}, m.Events[0].Breaks)

	b := newBuilder(policy.StopEvent)
	b.add(decl{name: "gate", kind: policy.KindBash, may: policy.MayDeny | policy.MayStop, onError: policy.OnErrorSkip})
	p := &dag.Program{Plans: []*dag.Plan{b.done()}}
	p.Seal()
	assert.Equal(t, []BreakModel{
		{On: []string{"deny"}, Action: policy.KeepWorking, Any: true, Hooks: []string{"gate"}},
		{On: []string{"stop"}, Action: policy.Abort, To: policy.LabelTurn, Any: true, Hooks: []string{"gate"}},
		{On: []string{"stop with feedback"}, Action: policy.KeepWorking, Any: true, Hooks: []string{"gate"}},
	}, Explain(p, ExplainOptions{}).Events[0].Breaks)
}

// A stop at pre_micro_compact leaves the whole of compact, a deny only micro;
// what no pipeline here encloses goes to the host.
func TestPipelineBreaks(t *testing.T) {
	m := Explain(mockProgram(), ExplainOptions{})
	require.Len(t, m.Pipelines, 3)
	assert.Equal(t, []PipeBreakModel{
		{Event: policy.PreMicroCompact, Hooks: []string{"keep-short"}, On: []string{"deny on error"}, To: policy.LabelCompactMicro,
			Skips: []string{"micro_compact", "post_micro_compact"}},
		{Event: policy.PreMicroCompact, Hooks: []string{"keep-short"}, On: []string{"stop"}, To: policy.LabelCompact,
			Skips: []string{"micro_compact", "post_micro_compact", "pre_auto_compact", "auto_compact", "post_auto_compact"}},
	}, m.Pipelines[0].Breaks)
	rest := []string{"tool", "post_tool_execution", "post_tool_execution_failure"}
	for i, exported := range [][]bool{1: {false, true, true}, 2: {false, false, true}} {
		for j, want := range exported {
			assert.Equal(t, want, m.Pipelines[i].Breaks[j].Exported, "%d %d", i, j)
			assert.Equal(t, rest, m.Pipelines[i].Breaks[j].Skips)
		}
	}
	only := Explain(mockProgram(), ExplainOptions{Event: policy.PostAutoCompact})
	require.Len(t, only.Pipelines, 1)
	assert.Equal(t, "compact", only.Pipelines[0].Name)
}

// The JSON has sorted keys and does not tell how long compilation took.
func TestJSON(t *testing.T) {
	m := Explain(mockProgram(), ExplainOptions{})
	text := draw(t, "json", m, Style{})
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	var tree map[string]any
	require.NoError(t, dec.Decode(&tree))
	again, err := indented(tree)
	require.NoError(t, err)
	assert.Equal(t, text, string(again))
	slower := mockProgram()
	slower.Compiled *= 3
	assert.Equal(t, text, draw(t, "json", Explain(slower, ExplainOptions{}), Style{}))
	for _, key := range []string{"version", "hash", "events", "pipelines", "diagnostics"} {
		assert.Contains(t, tree, key)
	}
}

// A thousand hooks are drawn in a moment.
func TestThousandHooks(t *testing.T) {
	b := newBuilder(policy.PreToolExecution)
	for i := range 1000 {
		d := decl{name: fmt.Sprint("hook-", i), kind: policy.KindExpr, may: policy.MayDeny, spec: true, cost: 100}
		if i%10 == 9 {
			d = decl{name: fmt.Sprint("hook-", i), kind: policy.KindBash, may: policy.MayDeny, writes: "tool_input", reads: "*", cost: ms}
		}
		b.add(d)
	}
	for to := 9; to < 1000; to += 10 {
		for from := 9; from < to; from += 10 {
			b.plan.Edges = append(b.plan.Edges, dag.Edge{From: from, To: to, Kind: dag.DataEdge, Why: "x"})
		}
	}
	slices.SortStableFunc(b.plan.Edges, dag.CompareEdges)
	p := &dag.Program{Plans: []*dag.Plan{b.done()}}
	p.Seal()
	began := time.Now()
	m := Explain(p, ExplainOptions{Tools: []string{"Bash", "Read"}})
	for _, r := range Renderers() {
		assert.NotEmpty(t, draw(t, r.Name, m, Style{Width: 100}))
	}
	assert.Less(t, time.Since(began), 2*time.Minute)
}

func TestMicros(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0µs", 40: "0.04µs", 100: "0.1µs", 13 * us: "13µs", 2400 * us: "2.4ms", 999 * us: "1ms",
		1446 * ms: "1.4s", 90 * time.Second: "90s"} {
		assert.Equal(t, want, micros(d).Text(2))
	}
	for ms, want := range map[float64]string{30000: "30s", 150000: "2m30s", 120000: "2m", 3600000: "1h", 500: "500ms"} {
		assert.Equal(t, want, duration(ms))
	}
}

package executor

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// lifecycle is the pipelines of semantics.md §1.2.
func lifecycle() []*dag.Pipeline {
	compact := func(part string, label policy.Label, before, after policy.Event) dag.Step {
		return dag.Step{Needed: part + "_compact", Seq: &dag.Pipeline{Name: string(label), Label: label,
			Steps: []dag.Step{{Event: before}, {Action: part + "_compact"}, {Event: after}}}}
	}
	tool := &dag.Pipeline{Name: "tool", Label: policy.LabelTool, Steps: []dag.Step{
		{Event: policy.PreToolExecution},
		{Needed: "permission", Seq: &dag.Pipeline{Steps: []dag.Step{{Event: policy.PermissionRequest}}}},
		{Action: "tool"},
		{OK: &dag.Step{Event: policy.PostToolExecution}, Err: &dag.Step{Event: policy.PostToolExecutionFailure}},
	}}
	return []*dag.Pipeline{
		{Name: "compact", Label: policy.LabelCompact, Steps: []dag.Step{
			compact("micro", policy.LabelCompactMicro, policy.PreMicroCompact, policy.PostMicroCompact),
			compact("auto", policy.LabelCompactAuto, policy.PreAutoCompact, policy.PostAutoCompact)}},
		tool,
		{Name: "tool.batch", Label: policy.LabelBatch, Each: true, Steps: []dag.Step{{Seq: tool}}},
		{Name: "agent", Label: policy.LabelAgent, Steps: []dag.Step{{Event: policy.SubagentStart}, {Action: "agent"}, {Event: policy.SubagentStop}}},
	}
}

func pipelines(plans ...*dag.Plan) *Executor {
	prog := programOf(plans...)
	prog.Pipelines = lifecycle()
	return New(prog, Options{})
}

// happened lists what a pipeline did, events and actions, in order.
func happened(o *Outcome) []string {
	var out []string
	for _, s := range o.Steps {
		if s.Decision != nil {
			out = append(out, string(s.Decision.Event))
			continue
		}
		out = append(out, s.Action)
	}
	return out
}

// does is an action that answers with fixed fields.
func does(fields map[string]any) Action {
	return func(context.Context, *policy.Context) (map[string]any, error) { return fields, nil }
}

func control(c policy.Control) bodyFunc { return says(policy.Result{Control: c}) }

func TestCompactPipeline(t *testing.T) {
	short := []any{map[string]any{"role": "user", "content": "short"}}
	shorter := []any{map[string]any{"role": "user", "content": "shorter"}}
	acts := Actions{"micro_compact": does(map[string]any{"messages": short}), "auto_compact": does(map[string]any{"messages": shorter})}
	long := []any{map[string]any{"role": "user", "content": "long"}}
	in := policy.NewContext("").Set(policy.FieldMessages, long)
	all := []string{"pre_micro_compact", "micro_compact", "post_micro_compact", "pre_auto_compact", "auto_compact", "post_auto_compact"}
	for _, c := range []struct {
		name     string
		event    policy.Event
		says     policy.Result
		want     []string
		messages any
	}{
		{"nothing said", policy.PreMicroCompact, policy.Result{}, all, shorter},
		{"stop at micro leaves compact", policy.PreMicroCompact, policy.Result{Control: policy.Stop}, all[:1], long},
		{"deny at micro leaves micro alone", policy.PreMicroCompact, deny("no"), []string{all[0], all[3], all[4], all[5]}, shorter},
		{"stop at auto keeps micro", policy.PreAutoCompact, policy.Result{Control: policy.Stop}, all[:4], short},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := pipelines(planOf(t, c.event, policy.Chain, hook{name: "h", kind: policy.KindExpr, run: says(c.says)}))
			defer x.Close()
			o, err := x.Pipeline(t.Context(), "compact", acts, in)
			require.NoError(t, err)
			require.NoError(t, o.Err)
			assert.Equal(t, policy.NoLabel, o.Break)
			assert.Equal(t, c.want, happened(o))
			messages, _ := o.Context.Get(policy.FieldMessages)
			assert.Equal(t, c.messages, messages)
		})
	}
}

func TestCompactRunsWhatIsNeeded(t *testing.T) {
	x := pipelines()
	defer x.Close()
	acts := Actions{"auto_compact": does(nil)}
	o, err := x.Pipeline(t.Context(), "compact", acts, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"pre_auto_compact", "auto_compact", "post_auto_compact"}, happened(o))
	acts["micro_compact"] = does(nil)
	acts["auto_compact_needed"] = func(context.Context, *policy.Context) (map[string]any, error) { return nil, ErrNotNeeded }
	o, err = x.Pipeline(t.Context(), "compact", acts, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"pre_micro_compact", "micro_compact", "post_micro_compact"}, happened(o))
}

func TestToolPipeline(t *testing.T) {
	ask := planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "a", kind: policy.KindExpr, run: says(policy.Result{Verdict: policy.Ask})})
	allow := planOf(t, policy.PermissionRequest, policy.First, hook{name: "p", kind: policy.KindExpr, run: says(policy.Result{Verdict: policy.Allow})})
	halt := planOf(t, policy.PostToolExecution, policy.Chain, hook{name: "h", kind: policy.KindExpr, run: control(policy.Halt)})
	bad := errors.New("exit 1")
	fails := func(context.Context, *policy.Context) (map[string]any, error) { return nil, bad }
	for _, c := range []struct {
		name  string
		plans []*dag.Plan
		acts  Actions
		want  []string
		left  policy.Label
	}{
		{"ok", nil, Actions{"tool": does(map[string]any{"tool_result": "r"})}, []string{"pre_tool_execution", "tool", "post_tool_execution"}, ""},
		{"error", nil, Actions{"tool": fails}, []string{"pre_tool_execution", "tool", "post_tool_execution_failure"}, ""},
		{"asked and nobody says yes", []*dag.Plan{ask}, Actions{"tool": does(nil)}, []string{"pre_tool_execution", "permission_request"}, ""},
		{"asked and the user says no", []*dag.Plan{ask}, Actions{"tool": does(nil), "ask": fails}, []string{"pre_tool_execution", "permission_request", "ask"}, ""},
		{"asked and the user says yes", []*dag.Plan{ask}, Actions{"tool": does(nil), "ask": does(nil)},
			[]string{"pre_tool_execution", "permission_request", "ask", "tool", "post_tool_execution"}, ""},
		{"asked and a hook allows", []*dag.Plan{ask, allow}, Actions{"tool": does(nil)}, []string{"pre_tool_execution", "permission_request", "tool", "post_tool_execution"}, ""},
		{"halt is the host's", []*dag.Plan{halt}, Actions{"tool": does(nil)}, []string{"pre_tool_execution", "tool", "post_tool_execution"}, policy.LabelTurn},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := pipelines(c.plans...)
			defer x.Close()
			o, err := x.Pipeline(t.Context(), "tool", c.acts, bashCall())
			require.NoError(t, err)
			require.NoError(t, o.Err)
			assert.Equal(t, c.want, happened(o))
			assert.Equal(t, c.left, o.Break)
		})
	}
}

// Law 32, and a stop that cancels the calls not yet started.
func TestBatchIsolatesCalls(t *testing.T) {
	for _, c := range []struct {
		says    policy.Control
		left    policy.Label
		skipped []string
		last    bool
	}{{policy.Skip, "", []string{"pre_tool_execution"}, true}, {policy.Stop, "", []string{"pre_tool_execution"}, false}, {policy.Halt, policy.LabelTurn, []string{"pre_tool_execution"}, false}} {
		x := pipelines(planOf(t, policy.PreToolExecution, policy.Chain, hook{name: "h", kind: policy.KindExpr, tool: "Edit", run: control(c.says)}))
		o, err := x.Pipeline(t.Context(), "tool.batch", Actions{"tool": does(nil)}, bashCall(), policy.NewContext("").Set(policy.FieldToolName, "Edit"), bashCall())
		require.NoError(t, err)
		assert.Equal(t, c.left, o.Break)
		whole := []string{"pre_tool_execution", "tool", "post_tool_execution"}
		assert.Equal(t, whole, happened(o.Calls[0]))
		assert.Equal(t, c.skipped, happened(o.Calls[1]))
		if c.last {
			assert.Equal(t, whole, happened(o.Calls[2]))
		} else {
			assert.Nil(t, o.Calls[2])
		}
		x.Close()
	}
}

func TestAgentPipeline(t *testing.T) {
	x := pipelines(planOf(t, policy.SubagentStart, policy.Chain, hook{name: "h", kind: policy.KindExpr, run: says(deny("no"))}))
	defer x.Close()
	o, err := x.Pipeline(t.Context(), "agent", Actions{"agent": does(nil)}, policy.NewContext("").Set(policy.FieldSubagentName, "a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"subagent_start"}, happened(o))
	assert.Equal(t, policy.NoLabel, o.Break)
}

func TestPipelineFailures(t *testing.T) {
	x := pipelines()
	defer x.Close()
	_, err := x.Pipeline(t.Context(), "nope", nil, nil)
	assert.EqualError(t, err, `no pipeline is called "nope"`)
	_, err = x.Pipeline(t.Context(), "tool", Actions{"x": does(nil)}, nil)
	assert.EqualError(t, err, `pipeline tool needs an action "tool"; it was given ["x"]`+"\n"+
		`no pipeline has an action "x": there are agent, ask, auto_compact, auto_compact_needed, micro_compact, micro_compact_needed, permission_needed, tool`)
	_, err = x.Pipeline(t.Context(), "tool", Actions{"tool": does(nil)})
	assert.EqualError(t, err, "pipeline tool takes one context, not 0")
	_, err = x.Pipeline(t.Context(), "tool.batch", Actions{"tool": does(nil)})
	assert.EqualError(t, err, "pipeline tool.batch takes a context for each call")

	bad := errors.New("out of memory")
	o, err := x.Pipeline(t.Context(), "agent", Actions{"agent": func(context.Context, *policy.Context) (map[string]any, error) { return nil, bad }}, nil)
	require.NoError(t, err)
	assert.Equal(t, bad, o.Err)
	for field, text := range map[string]string{
		"nope":      `action agent returned "nope", which is no field it can set`,
		"tool_name": "action agent returned a tool_name that is not a string",
	} {
		o, err = x.Pipeline(t.Context(), "agent", Actions{"agent": does(map[string]any{field: 1})}, nil)
		require.NoError(t, err)
		assert.EqualError(t, o.Err, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, err = x.Pipeline(ctx, "agent", Actions{"agent": does(nil)}, nil)
	require.NoError(t, err)
	assert.ErrorIs(t, o.Err, context.Canceled)
}

// The actions of a batch run at once: none of them ends before all have begun.
func TestBatchRunsCallsSideBySide(t *testing.T) {
	x := pipelines()
	defer x.Close()
	var begun sync.WaitGroup
	begun.Add(3)
	meet := func(context.Context, *policy.Context) (map[string]any, error) {
		begun.Done()
		begun.Wait()
		return nil, nil
	}
	o, err := x.Pipeline(t.Context(), "tool.batch", Actions{"tool": meet}, bashCall(), bashCall(), bashCall())
	require.NoError(t, err)
	require.NoError(t, o.Err)
	for _, call := range o.Calls {
		assert.Equal(t, []string{"pre_tool_execution", "tool", "post_tool_execution"}, happened(call))
	}
}

// What breaks after the actions began stops no call that runs: of several breaks
// the earliest call's is the batch's.
func TestBatchBreaksOfTheEarliestCall(t *testing.T) {
	x := pipelines(planOf(t, policy.PostToolExecution, policy.Chain, hook{name: "h", kind: policy.KindExpr, run: control(policy.Halt)}))
	defer x.Close()
	var begun sync.WaitGroup
	begun.Add(2)
	meet := func(context.Context, *policy.Context) (map[string]any, error) {
		begun.Done()
		begun.Wait()
		return nil, nil
	}
	o, err := x.Pipeline(t.Context(), "tool.batch", Actions{"tool": meet}, bashCall(), bashCall())
	require.NoError(t, err)
	assert.Equal(t, policy.LabelTurn, o.Break)
	for _, call := range o.Calls {
		assert.Equal(t, []string{"pre_tool_execution", "tool", "post_tool_execution"}, happened(call))
	}
}

// A panic of the host's action is raised where the host can recover from it.
func TestBatchPanics(t *testing.T) {
	x := pipelines()
	defer x.Close()
	assert.PanicsWithValue(t, "the host's bug", func() {
		_, _ = x.Pipeline(t.Context(), "tool.batch", Actions{"tool": func(context.Context, *policy.Context) (map[string]any, error) { panic("the host's bug") }}, bashCall(), bashCall())
	})
}

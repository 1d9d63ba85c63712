package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func bashCall() *policy.Context {
	return policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").
		Set(policy.FieldToolInput, map[string]any{"command": "rm -rf /"}).
		Set(policy.FieldSessionID, "s1").Set(policy.FieldToolUseID, "t9")
}

func traceText(t *testing.T, m *TraceModel, style Style) string {
	t.Helper()
	r, ok := FindTraceRenderer("text")
	require.True(t, ok)
	var b bytes.Buffer
	require.NoError(t, r.Render(&b, m, style))
	return b.String()
}

// blank is the trace of a plan in which nothing has happened yet.
func blank(plan *dag.Plan, in *policy.Context) []policy.HookTrace {
	out := make([]policy.HookTrace, len(plan.Nodes))
	for v := range out {
		n := &plan.Nodes[v]
		out[v] = policy.HookTrace{Status: policy.StatusNotStarted,
			TracedHook: &policy.TracedHook{Name: n.Hook.Name, Node: v, Kind: n.Hook.Kind, Recheck: n.RecheckOf >= 0, At: n.Hook.Span}}
		if !n.Matcher.Match(in) {
			out[v].Status = policy.StatusFiltered
		}
	}
	return out
}

func said(h *policy.HookTrace, v policy.Verdict, micros int64, reasons ...string) {
	h.Status, h.Verdict, h.Micros, h.Reasons, h.Attempts = policy.StatusRan, v, micros, reasons, 1
}

func decide(plan *dag.Plan, in *policy.Context, r policy.Result, hooks []policy.HookTrace) *policy.Decision {
	d := policy.Decide(plan.Spec, in, in.With(r.Patch), &r)
	d.Hooks = hooks
	return d
}

// The event of semantics.md §8's second mock-up.
func deniedTrace(width int) (*dag.Program, *TraceModel) {
	p := mockProgram()
	plan, in := p.Plan(policy.PreToolExecution), bashCall()
	hooks := blank(plan, in)
	at := diag.Span{Source: diag.NewSource("policies/shell.rego", "package hooks.shell\ndeny contains x if y\n"), Start: 20, End: 24}
	said(&hooks[1], policy.Deny, 13, "recursive delete of a root path")
	hooks[1].At = at
	hooks[2].Status, hooks[2].Micros = policy.StatusSquashed, 1
	d := decide(plan, in, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "guard-shell", At: at},
		Reasons: []policy.Reason{{Text: "recursive delete of a root path", Hook: "guard-shell"}}}, hooks)
	without := decide(plan, in, policy.Result{}, nil)
	return p, Trace(p, plan, d, in, TraceOptions{Elapsed: 17 * us, Without: without})
}

func TestTraceDenied(t *testing.T) {
	_, m := deniedTrace(0)
	golden(t, "trace-deny.txt", traceText(t, m, Style{}))
	golden(t, "trace-deny-narrow.txt", traceText(t, m, Style{Width: 70}))
	r, ok := FindTraceRenderer("json")
	require.True(t, ok)
	var b bytes.Buffer
	require.NoError(t, r.Render(&b, m, Style{}))
	golden(t, "trace-deny.json", b.String())
	assert.True(t, json.Valid(b.Bytes()))
	assert.Equal(t, &Counterfactual{Hook: "guard-shell", Action: policy.Proceed,
		WouldRun: []string{"audit (async)", "pnpm-rewrite", "llm-review", "secret-scan"}}, m.Without)
	assert.Equal(t, "verdict max(deny) = deny; action block (leaves tool) → it does not happen, the model is told why", m.Why)
}

// Failures, retries, rewrites, late filters and squashed processes.
func TestTraceFailures(t *testing.T) {
	p := mockProgram()
	plan, in := p.Plan(policy.PreToolExecution), bashCall()
	hooks := blank(plan, in)
	said(&hooks[1], policy.None, 13)
	said(&hooks[2], policy.Allow, 1)
	hooks[3].Status, hooks[3].Attempts = policy.StatusAsync, 1
	said(&hooks[4], policy.None, 6100)
	said(&hooks[5], policy.Ask, 12, "pushes to main")
	hooks[6].Status, hooks[6].Attempts, hooks[6].Micros = policy.StatusFailed, 2, 1_400_000
	hooks[7].Status, hooks[7].Attempts, hooks[7].Micros, hooks[7].Verdict = policy.StatusFailed, 1, 41_000, policy.Deny
	hooks[8].Status = policy.StatusFiltered
	r := policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "secret-scan", At: plan.Nodes[7].Hook.Span},
		Patch:    policy.Replace(policy.Path{Field: policy.FieldToolInput, Keys: []string{"command"}}, "ls"),
		Context:  []string{"remember the lint"},
		Warnings: []policy.Warning{{Code: codeFilter, Hook: "pnpm-rewrite", Text: "pnpm-rewrite: writes does not list tool_input.x"}},
		Failed: []policy.Failure{
			{Hook: "llm-review", Kind: policy.ErrNetwork, Error: "connection refused", OnError: policy.OnErrorSkip},
			{Hook: "secret-scan", Kind: policy.ErrExit, Error: "exit status 3", OnError: policy.OnErrorDeny}}}
	d := decide(plan, in, r, hooks)
	d.Degraded = "ask → deny: the agent cannot ask at this event"
	rules := decide(plan, in, policy.Result{Verdict: policy.Ask, VerdictBy: policy.By{Name: "guard-shell"},
		Reasons: []policy.Reason{{Text: "pushes to main", Hook: "guard-shell"}}}, nil)
	m := Trace(p, plan, d, in, TraceOptions{Without: rules})
	golden(t, "trace-failed.txt", traceText(t, m, Style{}))
	assert.Equal(t, 3, m.Processes)
	assert.Equal(t, 1, m.Models)
	assert.Equal(t, []string{"audit (async)", "pnpm-rewrite", "llm-review"}, m.Without.WouldRun)
	coloured := traceText(t, m, Style{Palette: ANSI()})
	assert.Equal(t, traceText(t, m, Style{}), escapes.ReplaceAllString(coloured, ""))
}

// A process denies: what comes after was never started, what would come
// without it ends where the rules would end it.
func TestTraceProcessDecides(t *testing.T) {
	b := newBuilder(policy.PreToolExecution)
	b.add(decl{name: "before", kind: policy.KindBash, cost: ms})
	b.add(decl{name: "gate", kind: policy.KindBash, may: policy.MayDeny, cost: ms})
	b.add(decl{name: "eager", kind: policy.KindBash, spec: true, cost: ms})
	b.add(decl{name: "rule", kind: policy.KindExpr, may: policy.MayDeny, slot: 1})
	b.add(decl{name: "after", kind: policy.KindBash, cost: ms})
	p := &dag.Program{Plans: []*dag.Plan{b.done()}}
	p.Seal()
	plan, in := p.Plans[0], bashCall()
	hooks := blank(plan, in)
	said(&hooks[0], policy.None, 900)
	said(&hooks[1], policy.Deny, 1000, "no")
	hooks[2].Status, hooks[2].Attempts = policy.StatusSquashed, 1
	d := decide(plan, in, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "gate"}}, hooks)
	rules := decide(plan, in, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: "rule#1"}}, nil)
	m := Trace(p, plan, d, in, TraceOptions{Without: rules})
	var whys []string
	for _, h := range m.Hooks {
		whys = append(whys, h.Why)
	}
	assert.Equal(t, []string{"", "", "started early, cancelled: gate ended the chain", "gate ended the chain", "gate ended the chain"}, whys)
	assert.Equal(t, []string{"before", "eager"}, m.Without.WouldRun)
	assert.Equal(t, "deny by rule#1, action block; before, eager would run  (counterfactual, rules only)", m.Without.text(true))
}

func TestTraceWhyFiltered(t *testing.T) {
	plan := guardPlan()
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Read")
	model := policy.Atom{Key: policy.FilterModelPrefix, Op: policy.AtomPrefix, Field: policy.FieldModel, Values: []string{"claude"},
		Reads: []policy.Field{policy.FieldModel}, Test: func(c *policy.Context) bool { return strings.HasPrefix(c.Text(policy.FieldModel), "claude") }}
	pattern := policy.Atom{Key: policy.FilterPattern, Op: policy.AtomMatch, Field: policy.FieldToolInput, Values: []string{"x+"},
		Reads: []policy.Field{policy.FieldToolInput}, Test: func(c *policy.Context) bool { _, ok := c.Get(policy.FieldToolInput); return !ok }}
	plan.Nodes[2].Matcher = &policy.Matcher{Atoms: []policy.Atom{model}}
	plan.Nodes[3].Matcher = &policy.Matcher{Atoms: []policy.Atom{pattern}}
	hooks := blank(plan, in)
	hooks[3].Status = policy.StatusFiltered
	d := decide(plan, in, policy.Result{Patch: policy.Replace(policy.Path{Field: policy.FieldToolInput}, map[string]any{"a": 1})}, hooks)
	p := &dag.Program{Plans: []*dag.Plan{plan}}
	p.Seal()
	m := Trace(p, plan, d, in, TraceOptions{})
	assert.Equal(t, "tool_name Read ∉ {Write,Edit}", m.Hooks[0].Why)
	assert.Equal(t, "model is absent, wanted claude…", m.Hooks[2].Why)
	assert.Equal(t, `tool_input {"a":1} ≁ pattern x+, after an earlier hook changed it`, m.Hooks[3].Why)
	in = policy.NewContext(policy.PreToolExecution).Set(policy.FieldModel, "gpt-4o")
	m = Trace(p, plan, decide(plan, in, policy.Result{}, blank(plan, in)), in, TraceOptions{})
	assert.Equal(t, "model gpt-4o does not begin with claude", m.Hooks[2].Why)
	assert.Equal(t, "tool_name is absent, wanted Write or Edit", m.Hooks[0].Why)
}

// A hook's name may end like a rule of another's.
func TestTraceDecider(t *testing.T) {
	b := newBuilder(policy.PreToolExecution)
	b.add(decl{name: "user/pre", kind: policy.KindExpr, may: policy.MayDeny})
	b.add(decl{name: "user/pre#1", kind: policy.KindExpr, may: policy.MayDeny})
	p := &dag.Program{Plans: []*dag.Plan{b.done()}}
	p.Seal()
	plan, in := p.Plans[0], bashCall()
	for by, want := range map[string]int{"user/pre": 0, "user/pre#1": 1, "user/pre#1#2": 1, "user/pre#9": 0, "other": -1} {
		hooks := blank(plan, in)
		said(&hooks[0], policy.Deny, 1)
		said(&hooks[1], policy.Deny, 1)
		m := Trace(p, plan, decide(plan, in, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: by}}, hooks), in, TraceOptions{})
		got := -1
		for i, h := range m.Hooks {
			if h.Decides {
				got = i
			}
		}
		assert.Equal(t, want, got, by)
	}
}

func TestTraceWithoutPlan(t *testing.T) {
	p := mockProgram()
	in := policy.NewContext(policy.Notify).Set(policy.FieldMessage, "hi\x1b[31m")
	d := policy.Decide(policy.Notify.Spec(), in, in, &policy.Result{})
	m := Trace(p, p.Plan(policy.Notify), d, in, TraceOptions{})
	assert.Equal(t, "notify \"hi\\u001b[31m\"    PROCEED\n no hook is on this event\nwhy   no hook is on this event; action proceed → it happens\n",
		traceText(t, m, Style{}))
}

// No author's text steers the terminal, and every line fits.
func TestTraceNasty(t *testing.T) {
	p := nastyProgram()
	plan := p.Plans[0]
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "</script><b>").Set(policy.FieldSessionID, nasty)
	hooks := blank(plan, in)
	said(&hooks[0], policy.Deny, 3000, nasty)
	d := decide(plan, in, policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: nasty}, Feedback: []string{nasty}}, hooks)
	m := Trace(p, plan, d, in, TraceOptions{})
	assert.True(t, m.Hooks[0].Decides)
	for width := 24; width < 160; width += 9 {
		out := traceText(t, m, Style{Width: width})
		assert.NotContains(t, out, "\x1b")
		for line := range strings.Lines(out) {
			assert.LessOrEqual(t, textWidth(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
	}
}

package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// TraceOptions say what the caller knows besides the Decision.
type TraceOptions struct {
	// Elapsed is how long the whole event took; 0 is unknown.
	Elapsed time.Duration
	// Without is the Decision the in-process hooks alone reach without the
	// hook that decides, nil when it was not computed.
	Without *policy.Decision
}

// TraceModel is what became of one real event: plain data for both trace
// renderers. Durations are microseconds.
type TraceModel struct {
	Version int           `json:"version"`
	Event   policy.Event  `json:"event"`
	Tool    string        `json:"tool,omitempty"`
	Input   string        `json:"input,omitempty"`
	Facts   string        `json:"facts,omitempty"` // what was known of who calls
	Session string        `json:"session,omitempty"`
	Use     string        `json:"use,omitempty"`
	Action  policy.Action `json:"action"`
	// Verdict and Control are the chain's; By and At who decided and where
	// that is written.
	Verdict   policy.Verdict `json:"verdict"`
	Control   policy.Control `json:"control"`
	By        string         `json:"by,omitempty"`
	At        string         `json:"at,omitempty"`
	ElapsedUS Micros         `json:"elapsed_us,omitempty"`
	Processes int            `json:"processes"`
	Models    int            `json:"models"`
	Hooks     []TraceHook    `json:"hooks"`
	Why       string         `json:"why"`
	// Changes are the fields with new values, Feedback and Context what the
	// model is told, System what the user is.
	Changes  []TraceChange     `json:"changes,omitempty"`
	Feedback []string          `json:"feedback,omitempty"`
	Context  []string          `json:"additional_context,omitempty"`
	System   []string          `json:"system_messages,omitempty"`
	Degraded string            `json:"degraded,omitempty"`
	Warnings []DiagnosticModel `json:"warnings,omitempty"`
	Without  *Counterfactual   `json:"without,omitempty"`
	Policy   string            `json:"policy,omitempty"`
	// outside is true where the plan of the event has a hook that runs outside of
	// this process: only then is anything said of processes.
	outside bool
}

// TraceHook is what one hook did, or why it did not run. A hook that is not in
// the plan has the status of its Entry.
type TraceHook struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	Label  string        `json:"label"`
	Kind   policy.Kind   `json:"kind"`
	Status policy.Status `json:"status"`
	// Verdict and Control are the hook's own.
	Verdict policy.Verdict `json:"verdict"`
	Control policy.Control `json:"control"`
	// At is where the rule that spoke, or else the hook, is written.
	At      string   `json:"at,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Saw is what of the event the rule that spoke looks at, with the values.
	Saw []string `json:"saw,omitempty"`
	// Engine is what evaluated a rule of Rego; Left says why its native code left
	// the event to OPA, "" when it did not.
	Engine string `json:"engine,omitempty"`
	Left   string `json:"left,omitempty"`
	// Why says why the hook did not run, was not used or failed.
	Why      string `json:"why,omitempty"`
	US       Micros `json:"us,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Recheck  bool   `json:"recheck,omitempty"`
	// Decides is true for the hook that decides the action.
	Decides bool `json:"decides,omitempty"`
}

// TraceChange is a field the chain changed; a deleted field has no value.
type TraceChange struct {
	Field string `json:"field"`
	Value any    `json:"value"`
}

// Counterfactual is what the in-process hooks say without the deciding one.
type Counterfactual struct {
	Hook    string         `json:"hook"`
	Action  policy.Action  `json:"action"`
	Verdict policy.Verdict `json:"verdict"`
	By      string         `json:"by,omitempty"`
	At      string         `json:"at,omitempty"`
	Reasons []string       `json:"reasons,omitempty"`
	// WouldRun are the processes and model calls that would then be made.
	WouldRun []string `json:"would_run,omitempty"`
}

// Trace explains a Decision: what each hook of the plan did and why. plan is
// the event's, nil when no hook is on it; in is the context the event fired
// with. Nothing is run.
func Trace(p *dag.Program, plan *dag.Plan, d *policy.Decision, in *policy.Context, opt TraceOptions) *TraceModel {
	in = in.Frozen(d.Event)
	m := &TraceModel{Version: ModelVersion, Event: d.Event, Tool: in.Text(policy.FieldToolName), Input: textOf(in, policy.FieldToolInput, policy.FieldUserInput,
		policy.FieldAssistantOutput, policy.FieldMessage, policy.FieldTaskDescription, policy.FieldTrigger, policy.FieldSource), Facts: textOf(lists.First(d.Final, in), policy.FieldFacts),
		Session: in.Text(policy.FieldSessionID), Use: in.Text(policy.FieldToolUseID), Action: d.Action, Verdict: d.Verdict,
		Control: d.Control, By: d.By, At: d.At.String(), ElapsedUS: micros(opt.Elapsed), Hooks: []TraceHook{},
		Feedback: lists.Copy(d.Feedback), Context: lists.Copy(d.Context), System: lists.Copy(d.SystemMessages), Degraded: d.Degraded,
		Policy: lists.First(d.Policy, p.Hash)}
	for _, f := range policy.Fields() {
		if v, ok := d.Patch[f.String()]; ok {
			m.Changes = append(m.Changes, TraceChange{Field: f.String(), Value: v})
		}
	}
	for _, w := range d.Warnings {
		m.Warnings = append(m.Warnings, warningModel(w))
	}
	if plan == nil {
		m.Hooks = append(m.Hooks, leftOut(p, d.Event)...)
		m.Why = "no hook is on this event; " + actionText(d)
		return m
	}
	t := &tracer{eventBuilder: newEventBuilder(plan, ""), d: d, in: in, decider: -1, halted: -1}
	t.collect()
	m.Hooks = append(t.hooks(), leftOut(p, d.Event)...)
	for v := range t.did {
		n := &plan.Nodes[v]
		m.outside = m.outside || !n.Exempt()
		if !n.Exempt() && t.did[v].Attempts > 0 {
			if n.Hook.Kind == policy.KindLLM {
				m.Models++
			} else {
				m.Processes++
			}
		}
	}
	m.Why = t.why()
	m.Without = t.without(opt.Without)
	return m
}

// textOf is the first of the fields that is there, as JSON: what a reader knows
// the event by.
func textOf(in *policy.Context, fields ...policy.Field) string {
	for _, f := range fields {
		v, ok := in.Get(f)
		if !ok {
			continue
		}
		if text, err := policy.EncodeJSON(v); err == nil {
			return string(text)
		}
	}
	return ""
}

// tracer matches what the Decision tells to the nodes of the plan.
type tracer struct {
	*eventBuilder
	d  *policy.Decision
	in *policy.Context
	// did is each node's trace; a node the Decision does not mention was
	// filtered out before anything was started, or not started.
	did []policy.HookTrace
	// decider is the node that decides the action, halted the one after which
	// nothing counts; -1 if there is none.
	decider, halted int
}

func (t *tracer) collect() {
	t.did = make([]policy.HookTrace, len(t.plan.Nodes))
	for v := range t.did {
		h := t.plan.Nodes[v].Hook
		t.did[v] = policy.HookTrace{Status: policy.StatusNotStarted,
			TracedHook: &policy.TracedHook{Name: h.Name, Kind: h.Kind, Node: v, Recheck: t.plan.Nodes[v].RecheckOf >= 0, At: h.Span}}
		if m := t.plan.Nodes[v].Matcher; m != nil && !m.Match(t.in) {
			t.did[v].Status = policy.StatusFiltered
		}
	}
	for _, h := range t.d.Hooks {
		if h.Node >= 0 && h.Node < len(t.did) && t.plan.Nodes[h.Node].Hook.Name == h.Name {
			t.did[h.Node] = h
		}
	}
	by := speakerOf(t.plan, t.d.By)
	for v := range t.did {
		h := &t.did[v]
		if h.Status != policy.StatusRan && h.Status != policy.StatusFailed {
			continue
		}
		if name := t.plan.Nodes[v].Hook.Name; by != "" && name == by && t.decider < 0 && t.decides(v) {
			t.decider = v
		}
		if t.halts(v) {
			t.halted = v
		}
	}
}

// speakerOf is the name of the hook meant by `hook` or `hook#rule`, "" if there is none.
// A hook's own name may look like a rule of another; the longer name is meant.
func speakerOf(p *dag.Plan, by string) string {
	best := ""
	for v := range p.Nodes {
		name := p.Nodes[v].Hook.Name
		rule, isRule := strings.CutPrefix(by, name+"#")
		if (by == name || isRule && strings.Trim(rule, "0123456789") == "") && len(name) > len(best) {
			best = name
		}
	}
	return best
}

// decides reports whether a node that is called like the hook which decides
// said what the Decision says.
func (t *tracer) decides(v int) bool {
	h := &t.did[v]
	switch {
	case h.Status == policy.StatusFailed:
		return true
	case t.d.Control != policy.Go:
		return h.Control == t.d.Control
	}
	return h.Verdict == t.d.Verdict
}

func (t *tracer) halts(v int) bool {
	h := &t.did[v]
	if h.Status == policy.StatusFailed {
		return t.plan.Nodes[v].MayHalt && (v == t.decider || t.failure(v).OnError == policy.OnErrorAbort)
	}
	return t.plan.Strategy.Halt.Halts(&policy.Result{Verdict: h.Verdict, Control: h.Control})
}

// failure is the record of a node's failure; copies made by recheck come
// after their originals.
func (t *tracer) failure(v int) policy.Failure {
	skip := len(t.plan.Primes(v))
	var found policy.Failure
	for _, f := range t.d.Failed {
		if f.Hook == t.plan.Nodes[v].Hook.Name {
			if found = f; skip == 0 {
				return f
			}
			skip--
		}
	}
	return found
}

func (t *tracer) hooks() []TraceHook {
	out := make([]TraceHook, len(t.did))
	for v, h := range t.did {
		out[v] = TraceHook{ID: t.ids[v], Name: h.Name, Label: t.plan.Label(v), Kind: t.plan.Nodes[v].Hook.Kind, Status: h.Status,
			Verdict: h.Verdict, Control: h.Control, At: h.At.String(), Reasons: lists.Copy(h.Reasons), Saw: t.saw(v), Why: t.reason(v),
			US: Micros(h.Micros), Attempts: h.Attempts, Recheck: t.plan.Nodes[v].RecheckOf >= 0, Decides: v == t.decider}
		out[v].Engine, out[v].Left = t.engine(v)
		if out[v].At == "" {
			out[v].At = t.plan.Nodes[v].Hook.Span.String()
		}
		if v == t.decider && !t.d.At.IsZero() {
			out[v].At = t.d.At.String()
		}
	}
	return out
}

// engine is what evaluated a node, and why native code did not.
func (t *tracer) engine(v int) (name, left string) {
	n := &t.plan.Nodes[v]
	if s := t.did[v].Status; n.Hook.Kind != policy.KindRego || s != policy.StatusRan && s != policy.StatusFailed {
		return "", ""
	}
	body := n.Runner
	if d, ok := body.(dag.Deferred); ok {
		body = d.Made()
	}
	if r, ok := body.(interface{ LeftWhy() string }); ok {
		left = r.LeftWhy()
	}
	if r, ok := body.(interface{ Engine() string }); ok && n.Engine == "" {
		return r.Engine(), left
	}
	return lists.First(n.Engine, "rego(topdown)"), left
}

// reason says why a node has no part in the Decision, or how it failed.
func (t *tracer) reason(v int) string {
	n := &t.plan.Nodes[v]
	switch t.did[v].Status {
	case policy.StatusFiltered:
		return t.mismatch(n)
	case policy.StatusNotStarted:
		return t.unstarted()
	case policy.StatusSquashed:
		if n.Exempt() {
			return "evaluated early, not used (after the halt)"
		}
		return "started early, cancelled: " + t.unstarted()
	case policy.StatusFailed:
		f := t.failure(v)
		if f.Hook == "" {
			return "failed"
		}
		return fmt.Sprintf("%s: %s; on_error %s", f.Kind, f.Error, meaning[f.OnError])
	case policy.StatusAsync:
		return "started, not waited for"
	case policy.StatusDisabled:
		return "disabled"
	}
	return ""
}

var meaning = map[policy.Posture]string{
	policy.OnErrorSkip: "skip: as if it had said nothing", policy.OnErrorAbort: "abort: the chain ends",
	policy.OnErrorDeny: "deny: as if it had denied", policy.OnErrorAsk: "ask: as if it had asked",
}

func (t *tracer) unstarted() string {
	switch {
	case t.d.Action == policy.Cancelled:
		return "the event was cancelled"
	case t.halted < 0:
		return "the chain was over"
	case t.plan.Nodes[t.halted].Exempt() && t.plan.Nodes[t.halted].Slot == 0 && slices.ContainsFunc(t.plan.Nodes, func(n dag.Node) bool { return !n.Exempt() }):
		return "the halt was known before any process was needed"
	}
	return t.plan.Label(t.halted) + " ended the chain"
}

// mismatch is the first condition that failed and the value it saw. Filters
// are evaluated at the hook's turn: a condition that holds for the event as
// it came is tried on what the chain made of it.
func (t *tracer) mismatch(n *dag.Node) string {
	if n.Matcher == nil {
		return "the filter does not match"
	}
	for _, c := range []*policy.Context{t.in, t.d.Final} {
		if c == nil {
			continue
		}
		for i := range n.Matcher.Atoms {
			a := &n.Matcher.Atoms[i]
			if a.Test(c) {
				continue
			}
			if c == t.in {
				return atomText(a, c)
			}
			return atomText(a, c) + ", after an earlier hook changed it"
		}
	}
	return "the filter did not match at the hook's turn"
}

// atomText is a failed condition: the value seen and what was wanted.
func atomText(a *policy.Atom, c *policy.Context) string {
	v, ok := c.Get(a.Field)
	if !ok {
		return a.Field.String() + " is absent, wanted " + map[policy.AtomOp]string{policy.AtomIn: strings.Join(a.Values, " or "),
			policy.AtomPrefix: strings.Join(a.Values, " or ") + "…"}[a.Op] + matchText(a)
	}
	text, isText := v.(string)
	if !isText {
		if raw, err := policy.EncodeJSON(v); err == nil {
			text = string(raw)
		}
	}
	text = a.Field.String() + " " + cut(text, 40)
	switch a.Op {
	case policy.AtomIn:
		return text + " ∉ {" + strings.Join(a.Values, ",") + "}"
	case policy.AtomPrefix:
		return text + " does not begin with " + strings.Join(a.Values, " or ")
	}
	return text + " ≁ " + matchText(a)
}

// matchText is a condition that only its own test understands, as written.
func matchText(a *policy.Atom) string {
	if a.Op != policy.AtomMatch {
		return ""
	}
	return strings.Join(append([]string{string(a.Key)}, a.Values...), " ")
}

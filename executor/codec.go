package executor

import (
	"encoding/json"
	"errors"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// codec writes answers down for a Memo and reads them back. Places in the
// policy are written as file and offsets: the program's hash is part of the
// key, so a file still has the content they point into.
type codec struct{ sources map[string]*diag.Source }

func newCodec(prog *dag.Program) *codec {
	c := &codec{sources: map[string]*diag.Source{}}
	see := func(s diag.Span) {
		if s.Source != nil {
			c.sources[s.Source.Name] = s.Source
		}
	}
	for _, plan := range prog.Plans {
		for i := range plan.Nodes {
			h := plan.Nodes[i].Hook
			see(h.Span)
			see(h.Body.Source.Span)
		}
	}
	return c
}

// The wire types hold what has no JSON form of its own that can be read back.
type (
	wireAnswer struct {
		Verdict     uint8              `json:"verdict"`
		VerdictBy   wireSpan           `json:"verdict_by"`
		Control     uint8              `json:"control"`
		ControlBy   wireSpan           `json:"control_by"`
		Edits       []wireEdit         `json:"edits"`
		Reasons     []wireSpan         `json:"reasons"`
		Feedback    []string           `json:"feedback"`
		Context     []string           `json:"context"`
		System      []string           `json:"system"`
		Inject      json.RawMessage    `json:"inject"`
		StopReasons []string           `json:"stop_reasons"`
		ToolConfig  *policy.ToolConfig `json:"tool_config"`
		Suppress    bool               `json:"suppress"`
		EndChain    bool               `json:"end_chain"`
		Agent       []wireAgent        `json:"native"`
		Warnings    []wireWarning      `json:"warnings"`
		Hooks       []wireTrace        `json:"hooks"`
	}
	// wireSpan is a place, the hook that spoke there and what it said.
	wireSpan struct {
		Hook  string `json:"hook"`
		Text  string `json:"text"`
		File  string `json:"file"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	}
	wireEdit struct {
		Field     string          `json:"field"`
		Keys      []string        `json:"keys"`
		Value     json.RawMessage `json:"value"`
		Delete    bool            `json:"delete"`
		Transient bool            `json:"passing"`
	}
	wireAgent struct {
		By      wireSpan        `json:"by"`
		Value   json.RawMessage `json:"value"`
		Verdict uint8           `json:"verdict"`
		Control uint8           `json:"control"`
		Void    bool            `json:"void"`
	}
	wireWarning struct {
		Code  string        `json:"code"`
		Hook  string        `json:"hook"`
		Text  string        `json:"text"`
		Would *policy.Would `json:"would,omitempty"`
	}
	wireTrace struct {
		Hook    wireSpan      `json:"hook"`
		Status  policy.Status `json:"status"`
		Verdict uint8         `json:"verdict"`
		Control uint8         `json:"control"`
		Micros  int64         `json:"us"`
		Tries   int           `json:"attempts"`
		Recheck bool          `json:"recheck"`
		Reasons []string      `json:"reasons"`
		Kind    policy.Kind   `json:"kind"`
		Node    int           `json:"node"`
	}
)

func place(hook, text string, at diag.Span) wireSpan {
	return wireSpan{hook, text, at.File(), at.Start, at.End}
}

func (c *codec) span(w wireSpan) diag.Span {
	if src := c.sources[w.File]; src != nil && 0 <= w.Start && w.Start <= w.End && w.End <= len(src.Content) {
		return diag.Span{Source: src, Start: w.Start, End: w.End}
	}
	return diag.Span{}
}

func (c *codec) encode(a *Answer) ([]byte, error) {
	r := &a.Result
	inject, err := policy.EncodeJSON(r.Inject)
	if err != nil {
		return nil, err
	}
	w := wireAnswer{Verdict: uint8(r.Verdict), VerdictBy: place(r.VerdictBy.Name, "", r.VerdictBy.At),
		Control: uint8(r.Control), ControlBy: place(r.ControlBy.Name, "", r.ControlBy.At),
		Feedback: r.Feedback, Context: r.Context, System: r.System, Inject: inject, StopReasons: r.StopReasons,
		ToolConfig: r.ToolConfig, Suppress: r.Suppress, EndChain: r.EndChain}
	for _, e := range r.Patch.Edits() {
		value, err := policy.EncodeJSON(e.Value)
		if err != nil {
			return nil, err
		}
		w.Edits = append(w.Edits, wireEdit{e.Path.Field.String(), e.Path.Keys, value, e.Delete, e.Transient})
	}
	for _, n := range r.Agent {
		value, err := policy.EncodeJSON(n.Value)
		if err != nil {
			return nil, err
		}
		w.Agent = append(w.Agent, wireAgent{place(n.By.Name, "", n.By.At), value, uint8(n.Verdict), uint8(n.Control), n.Void})
	}
	for _, reason := range r.Reasons {
		w.Reasons = append(w.Reasons, place(reason.Hook, reason.Text, reason.At))
	}
	for _, warning := range r.Warnings {
		w.Warnings = append(w.Warnings, wireWarning{warning.Code.ID, warning.Hook, warning.Text, warning.Would})
	}
	for _, t := range a.Hooks {
		w.Hooks = append(w.Hooks, wireTrace{place(t.Name, "", t.At), t.Status, uint8(t.Verdict), uint8(t.Control),
			t.Micros, t.Attempts, t.Recheck, t.Reasons, t.Kind, t.Node})
	}
	return policy.EncodeJSON(w)
}

var errDamaged = errors.New("remembered answer is damaged")

func (c *codec) decode(data []byte) (*Answer, error) {
	var w wireAnswer
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	if !known(w.Verdict, w.Control) {
		return nil, errDamaged
	}
	for _, t := range w.Hooks {
		if !known(t.Verdict, t.Control) {
			return nil, errDamaged
		}
	}
	r := policy.Result{Verdict: policy.Verdict(w.Verdict), VerdictBy: policy.By{Name: w.VerdictBy.Hook, At: c.span(w.VerdictBy)},
		Control: policy.Control(w.Control), ControlBy: policy.By{Name: w.ControlBy.Hook, At: c.span(w.ControlBy)},
		Feedback: w.Feedback, Context: w.Context, System: w.System, StopReasons: w.StopReasons,
		ToolConfig: w.ToolConfig, Suppress: w.Suppress, EndChain: w.EndChain}
	inject, err := policy.DecodeJSON(w.Inject)
	if err != nil {
		return nil, err
	}
	if r.Inject, _ = inject.([]any); r.Inject == nil && inject != nil {
		return nil, errDamaged
	}
	if r.Patch, err = decodeEdits(w.Edits); err != nil {
		return nil, err
	}
	if r.Agent, err = c.agent(w.Agent); err != nil {
		return nil, err
	}
	for _, reason := range w.Reasons {
		r.Reasons = append(r.Reasons, policy.Reason{Text: reason.Text, Hook: reason.Hook, At: c.span(reason)})
	}
	for _, warning := range w.Warnings {
		code := diag.Lookup(warning.Code)
		if code == nil {
			return nil, errDamaged
		}
		r.Warnings = append(r.Warnings, policy.Warning{Code: code, Hook: warning.Hook, Text: warning.Text, Would: warning.Would})
	}
	return &Answer{Result: r, Hooks: c.traces(w.Hooks)}, nil
}

func (c *codec) agent(wire []wireAgent) ([]policy.AgentAnswer, error) {
	var out []policy.AgentAnswer
	for _, w := range wire {
		v, err := policy.DecodeJSON(w.Value)
		m, ok := v.(map[string]any)
		if err != nil || !ok && v != nil || !known(w.Verdict, w.Control) {
			return nil, errDamaged
		}
		out = append(out, policy.AgentAnswer{By: policy.By{Name: w.By.Hook, At: c.span(w.By)}, Value: m,
			Verdict: policy.Verdict(w.Verdict), Control: policy.Control(w.Control), Void: w.Void})
	}
	return out, nil
}

func known(verdict, control uint8) bool {
	return verdict <= uint8(policy.Deny) && control <= uint8(policy.Halt)
}

func decodeEdits(edits []wireEdit) (policy.Patch, error) {
	var p policy.Patch
	for _, e := range edits {
		f, ok := policy.ParseField(e.Field)
		if !ok {
			return p, errDamaged
		}
		path := policy.Path{Field: f, Keys: e.Keys}
		edit := policy.Remove(path)
		if !e.Delete {
			v, err := policy.DecodeJSON(e.Value)
			if err != nil {
				return p, err
			}
			edit = policy.Replace(path, v)
		}
		if e.Transient {
			edit = edit.Transient()
		}
		p = p.Then(edit)
	}
	return p, nil
}

func (c *codec) traces(wire []wireTrace) []policy.HookTrace {
	var out []policy.HookTrace
	for _, t := range wire {
		out = append(out, policy.HookTrace{Status: t.Status, Verdict: policy.Verdict(t.Verdict),
			Control: policy.Control(t.Control), Micros: t.Micros, Attempts: t.Tries,
			TracedHook: &policy.TracedHook{Name: t.Hook.Hook, Recheck: t.Recheck, At: c.span(t.Hook), Reasons: t.Reasons, Kind: t.Kind, Node: t.Node}})
	}
	return out
}

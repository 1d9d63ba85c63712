// Package impact tells from the decision log what hooks would have done: those of
// another policy, or those that were not in force.
package impact

import (
	"context"
	"encoding/json"
	"sort"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/rollout"
)

// Hook is what one hook of one event would have done.
type Hook struct {
	Name  string       `json:"hook"`
	Event policy.Event `json:"event"`
	// State is new where the record has no hook of that name, else how it is in force.
	State string `json:"state"`
	// Blocked, Asked and Rewritten are calls that went on as they were, and would not
	// have; Already are those that were held back or rewritten all the same.
	Blocked   int `json:"blocked"`
	Asked     int `json:"asked"`
	Rewritten int `json:"rewritten"`
	Already   int `json:"already"`
	// Failed are calls on which it failed, which count above by what that means.
	Failed int `json:"failed"`
	// Sessions and Agents are those of Blocked, Asked and Rewritten.
	Sessions int `json:"sessions"`
	Agents   int `json:"agents"`
	// NotReplayed counts calls by why nobody knows what it would have said.
	NotReplayed map[string]int `json:"not_replayed,omitempty"`
	// Days counts Blocked, Asked and Rewritten by day.
	Days    map[string]int `json:"days,omitempty"`
	Samples []Sample       `json:"samples,omitempty"`

	seen             bool
	sessions, agents map[string]bool
}

// Noise is how many calls the hook would have changed.
//
//go:noinline
func (h *Hook) Noise() int { return h.Blocked + h.Asked + h.Rewritten }

// Sample is one call that a hook would have changed, masked as it is in the log.
type Sample struct {
	ID      string        `json:"decision_id"`
	Time    time.Time     `json:"time"`
	Agent   string        `json:"agent,omitempty"`
	Session string        `json:"session_id,omitempty"`
	Tool    string        `json:"tool,omitempty"`
	Call    string        `json:"call,omitempty"`
	Action  policy.Action `json:"action"`
	// Patch is what the hook would have changed.
	Patch   json.RawMessage `json:"patch,omitempty"`
	Reasons []string        `json:"reasons,omitempty"`
}

// Report is what the record says.
type Report struct {
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Calls    int       `json:"calls"`
	Sessions int       `json:"sessions"`
	Agents   int       `json:"agents"`
	// Changed are the calls that at least one hook would have changed.
	Changed int     `json:"changed"`
	Hooks   []*Hook `json:"hooks"`
	// Quiet are hooks that would have done nothing.
	Quiet []string `json:"quiet,omitempty"`
	// Unreadable are entries whose event this hookc cannot read.
	Unreadable int      `json:"unreadable,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// Judge reads entries.
type Judge struct {
	report  Report
	samples int
	// program is the policy that is judged, nil for what the log tells; plans are its
	// plans with no hook in force.
	program          *dag.Program
	plans            map[policy.Event]*dag.Plan
	hooks            map[[2]string]*Hook
	sessions, agents map[string]bool
	// borrowed counts answers that were given under another policy.
	borrowed int
}

// New judges the hooks of a program, nil for hooks that were not in force when
// decisions were logged. It keeps so many samples of each.
func New(p *dag.Program, samples int) *Judge {
	j := &Judge{program: p, samples: samples, plans: map[policy.Event]*dag.Plan{}, hooks: map[[2]string]*Hook{}, sessions: map[string]bool{}, agents: map[string]bool{}}
	if p == nil {
		return j
	}
	for _, plan := range p.Plans {
		j.plans[plan.Event] = withheld(plan)
		for i := range plan.Nodes {
			if n := &plan.Nodes[i]; n.RecheckOf < 0 && n.Hook.Tier != policy.TierBuiltin {
				j.hook(plan.Event, n.Hook.Name).State = lists.First(rollout.Text(n.Hook), "enforce")
			}
		}
	}
	return j
}

//go:noinline
func (j *Judge) hook(e policy.Event, name string) *Hook {
	key := [2]string{string(e), name}
	if j.hooks[key] == nil {
		j.hooks[key] = &Hook{Name: name, Event: e, NotReplayed: map[string]int{}, Days: map[string]int{}, sessions: map[string]bool{}, agents: map[string]bool{}}
	}
	return j.hooks[key]
}

// Add judges an entry.
func (j *Judge) Add(ctx context.Context, e *decisionlog.Entry) error {
	event, known := policy.ParseEvent(e.Path)
	in, _, err := policy.ContextFromMap(e.Input)
	if !known || err != nil {
		j.report.Unreadable++
		return nil
	}
	r := &j.report
	if r.Calls++; r.From.IsZero() || e.Timestamp.Before(r.From) {
		r.From = e.Timestamp
	}
	if e.Timestamp.After(r.To) {
		r.To = e.Timestamp
	}
	j.sessions[e.Session], j.agents[e.Labels["agent"]] = true, true
	traces, _ := e.Result["hooks"].([]any)
	for _, t := range traces {
		trace, _ := t.(map[string]any)
		if name, _ := trace["name"].(string); j.hooks[[2]string{string(event), name}] != nil {
			j.hook(event, name).seen = true
		}
	}
	would, err := j.would(ctx, event, in, e)
	if err != nil {
		return err
	}
	changed := false
	for _, w := range would {
		changed = j.note(event, e, w) || changed
	}
	if changed {
		r.Changed++
	}
	return nil
}

// would is what the hooks would have said: as it was told, or as they say it now.
func (j *Judge) would(ctx context.Context, event policy.Event, in *policy.Context, e *decisionlog.Entry) ([]*policy.Would, error) {
	if j.program != nil {
		return j.replay(ctx, event, in, e)
	}
	var out []*policy.Would
	text, err := policy.EncodeJSON(e.Result["would"])
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		j.report.Unreadable++
		return nil, nil
	}
	for _, w := range out {
		if h := j.hook(event, w.Hook); !h.seen {
			h.seen, h.State = true, "not in force"
		}
	}
	return out, nil
}

// weight is how much an action holds back: nothing, a question, the call.
func weight(a policy.Action) int {
	switch a {
	case policy.Proceed, "":
		return 0
	case policy.AskUser, policy.DeferCall:
		return 1
	}
	return 2
}

// note counts what a hook would have done, and reports whether the call would not
// have gone on as it did.
func (j *Judge) note(event policy.Event, e *decisionlog.Entry, w *policy.Would) bool {
	h := j.hook(event, w.Hook)
	if w.Says == "failed" {
		h.Failed++
	}
	was, _ := e.Result["action"].(string)
	held := weight(policy.Action(was))
	if e.Error != "" {
		held = 2
	}
	_, rewritten := e.Result["patch"].(map[string]any)
	switch now := weight(w.Action); {
	case now > held && now == 2:
		h.Blocked++
	case now > held:
		h.Asked++
	case now > 0:
		h.Already++
		return false
	case len(w.Patch) > 0 && (rewritten || held == 2):
		h.Already++
		return false
	case len(w.Patch) > 0:
		h.Rewritten++
	default:
		return false
	}
	h.sessions[e.Session], h.agents[e.Labels["agent"]] = true, true
	h.Days[e.Timestamp.UTC().Format(time.DateOnly)]++
	if len(h.Samples) < j.samples {
		s := Sample{ID: e.ID, Time: e.Timestamp, Agent: e.Labels["agent"], Session: e.Session, Action: w.Action, Patch: w.Patch, Reasons: w.Reasons}
		s.Tool, _ = e.Input["tool_name"].(string)
		if call := e.Input["tool_input"]; call != nil {
			text, _ := policy.EncodeJSON(call) // it was JSON in the log
			s.Call = string(text)
		}
		h.Samples = append(h.Samples, s)
	}
	return true
}

// Report is what was found, the noisiest hook first.
func (j *Judge) Report() *Report {
	r := j.report
	r.Sessions, r.Agents, r.Hooks = len(j.sessions), len(j.agents), []*Hook{}
	for _, h := range j.hooks {
		h.Sessions, h.Agents = len(h.sessions), len(h.agents)
		if !h.seen && h.State != "" {
			h.State = "new"
		}
		if h.Noise()+h.Already+h.Failed+len(h.NotReplayed) == 0 {
			r.Quiet = append(r.Quiet, h.Name+" at "+string(h.Event))
			continue
		}
		r.Hooks = append(r.Hooks, h)
	}
	lists.Sort(r.Quiet)
	sort.Slice(r.Hooks, func(a, b int) bool {
		x, y := r.Hooks[a], r.Hooks[b]
		if x.Noise() != y.Noise() {
			return x.Noise() > y.Noise()
		}
		if x.Blocked != y.Blocked {
			return x.Blocked > y.Blocked
		}
		if x.Name != y.Name {
			return x.Name < y.Name
		}
		return x.Event < y.Event
	})
	r.Notes = j.notes()
	return &r
}

// Package dag is the contract between the compiler, which makes a Program,
// and the executor, which runs one; neither sees the other. A Program is
// immutable and safe for concurrent use.
package dag

import (
	"slices"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
	"github.com/hookc/hookc/policy/rollout"
)

// Program is everything a policy compiles to.
type Program struct {
	// Hash identifies the program: `sha256:` and hex. Equal policies have
	// equal hashes, whatever order their files were read in.
	Hash  string
	Plans []*Plan // by lifecycle order, one for each event that has a hook
	// Hooks lists every loaded hook once, in the order of its event's chain.
	Hooks     []Entry
	Pipelines []*Pipeline
	Sources   []policy.SourceFile
	Tools     policy.Catalogue
	Facts     []policy.Fact // those declared
	Approvals bool          // whether a question may become an approval
	// Diagnostics are the findings of compilation, sorted.
	Diagnostics diag.List
	// Severities are what the policy makes of codes, for who reports findings. They
	// are no part of the hash.
	Severities map[string]diag.Severity
	// Log is what the policy says of the decision log; no part of the hash.
	Log []record.Setting
	// Notes say what overrode the written policy (environment, trust).
	Notes []string
	// Warnings go with every Decision: untrusted sources, dropped overrides.
	Warnings []policy.Warning
	// Agent is the id of the dialect that answers are given in, "" when it is
	// not known.
	Agent string
	// Compiled is how long compilation took; it is no part of the hash.
	Compiled time.Duration

	byEvent map[policy.Event]*Plan
}

// Plan returns the plan of an event, or nil when no hook is on it.
func (p *Program) Plan(e policy.Event) *Plan { return p.byEvent[e] }

// Projection is what must be decoded of event e to decide it.
func (p *Program) Projection(e policy.Event) *policy.Projection {
	switch plan := p.Plan(e); {
	case plan == nil:
		return noHooks
	case plan.Projection != nil:
		return plan.Projection
	}
	return everything
}

// What is decoded of an event that no hook is on, and of one that is looked at
// whole.
var (
	noHooks    = policy.NewProjection(policy.Paths{}, policy.Paths{})
	everything = policy.WholeProjection()
)

// Seal indexes the plans by event. The compiler calls it last.
//
//go:noinline
func (p *Program) Seal() {
	p.byEvent = make(map[policy.Event]*Plan, len(p.Plans))
	for _, plan := range p.Plans {
		p.byEvent[plan.Event] = plan
		if plan.shape == nil {
			plan.shape = &shape{}
		}
	}
}

// EntryStatus is what became of a loaded hook.
type EntryStatus string

// The statuses: in a plan, or why not.
const (
	Live       EntryStatus = "live"
	Dead       EntryStatus = "dead"
	Overridden EntryStatus = "overridden"
	Rejected   EntryStatus = "rejected"
	Disabled   EntryStatus = "disabled"
	Untrusted  EntryStatus = "untrusted"
)

// Entry is one loaded hook and what became of it.
type Entry struct {
	Hook   *policy.Hook
	Status EntryStatus
	// Reason says why a hook is not live, By names the hook responsible.
	Reason string
	By     string
	// Code is the finding behind it, if there is one.
	Code *diag.Code
}

// Plan is what to run for one event.
type Plan struct {
	Event    policy.Event
	Spec     *policy.EventSpec
	Strategy *policy.StrategySpec
	// ByPriority is true under `order: priority`.
	ByPriority bool
	// Deadline bounds the whole chain, retries included.
	Deadline time.Duration
	// MaxConcurrent and MaxModels bound processes and model calls.
	MaxConcurrent, MaxModels int
	// Items in serial order; every node belongs to exactly one.
	Items []Item
	// Nodes in serial order; a Node's index is its ID.
	Nodes []Node
	// Edges say which node waits for which and why, by To, From and kind.
	Edges []Edge
	// Inline is true when every node is in-process: no goroutine is needed.
	Inline bool
	// Slots is the number of in-process slots.
	Slots int
	// Fused are the nodes that are evaluated together, by their first members.
	Fused []Fusion
	// Losses is what its hooks may say and the agent cannot be told.
	Losses []Loss
	// Open lists the hooks through which a failure lets the action pass.
	Open []OpenHook
	// Index answers which nodes can match a tool.
	Index Index
	// Reads is what any node of the plan reads.
	Reads policy.Paths
	// Projection is what of an event any node, or what is done with their
	// answers, looks at; nil is everything.
	Projection *policy.Projection
	// Volatile is true when a Decision must not be memoised.
	Volatile bool
	Estimate Estimate

	shape *shape
}

// shape means everything in a plan but its bodies.
type shape struct{ _ byte }

// WithBodies is the plan with other bodies: nodes differ from its own in their
// Hook's text, their Runner and Unindexed alone. Fused is the caller's to set.
func (p *Plan) WithBodies(nodes []Node) *Plan {
	if p.shape == nil {
		panic("dag: a plan that was not sealed has no shape")
	}
	out := *p
	out.Nodes = nodes
	return &out
}

// SameShape reports whether one of two plans was made of the other by
// WithBodies.
func (p *Plan) SameShape(q *Plan) bool { return p.shape != nil && p.shape == q.shape }

// Memoised reports whether a repeated call gets the answer it got before: not
// where the plan is volatile, or made of in-process rules that change nothing,
// so that evaluating them again costs less than remembering and cannot be told
// apart (semantics.md §5.4).
func (p *Plan) Memoised() bool {
	changes := func(n Node) bool { return n.Effects.World == policy.WorldWrite }
	return !p.Volatile && (!p.Inline || slices.ContainsFunc(p.Nodes, changes))
}

// Posture is `closed`, or `open` when some hook that can deny fails open.
func (p *Plan) Posture() string {
	if len(p.Open) > 0 {
		return "open"
	}
	return "closed"
}

// OpenHook is a hook whose failure lets the action pass, and why.
type OpenHook struct{ Hook, Why string }

// Loss is something the hooks of an event may say that the agent cannot be
// told, and what becomes of it: the name of what is said instead, upwards
// where there is anything stricter, or "none" or "dropped" (docs/reference/cli.md,
// "Dialects").
type Loss struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

func (l Loss) String() string { return l.From + " → " + l.To }

// Item is one step of a chain: a hook, or a group whose members see one
// snapshot.
type Item struct {
	// Members are node IDs, ascending and contiguous.
	Members []int
	// Group is the name of a `parallel:` group, "" for a single hook or for
	// the one group of a snapshot strategy.
	Group    string
	Parallel bool
	Fold     policy.Fold
	// MayHalt is true when the folded result can end the chain.
	MayHalt bool
}

// Join is what members of an item say together: x followed by y. The one group
// of a snapshot strategy combines as the strategy does.
func (p *Plan) Join(item *Item, x, y policy.Result) policy.Result {
	if item.Parallel && item.Group == "" {
		return p.Strategy.Join(x, y)
	}
	return policy.Join(item.Fold, x, y)
}

// Node is one hook in a plan.
type Node struct {
	Hook *policy.Hook
	// Item is the index of the node's item.
	Item int
	// Matcher is the compiled filter; Runner the prepared body.
	Matcher *policy.Matcher
	Runner  policy.Runner
	Effects policy.Effects
	// Reads is what filter and body read.
	Reads policy.Paths
	// Timeout bounds an attempt (the step budget of an in-process node),
	// Retry is how many attempts may follow the first.
	Timeout            time.Duration
	Retry              int
	OnError, OnTimeout policy.Posture
	// Would is what the node could do if its hook decided, nil where it does.
	Would *Would
	// MayHalt is true when the node's result can end the chain.
	MayHalt bool
	// RecheckOf is the node this one is the recheck copy of, else -1.
	RecheckOf int
	// Slot is the in-process slot the node is hoisted to, -1 for others.
	Slot int
	// Wait lists the nodes that must be done before this one starts (D1 and
	// D3), Started those that must only have been started (async writers).
	Wait, Started []int
	// Data lists, among Wait, the nodes whose patches this one sees (D1).
	Data []int
	// Gate is the last item that must be complete without halting before this
	// node starts (D2); -1 if there is none. Every earlier item that may halt is
	// complete then too.
	Gate int
	// Engine says how the body is evaluated, for explain.
	Engine string
	// Brief is true when the body is timed together with those around it.
	Brief bool
	// Always is what the body says whatever it reads, when that is known.
	Always policy.Powers
	// Unindexed are the body's rules that are evaluated for every event.
	Unindexed []Unindexed
	// Cost is the estimated time of one run.
	Cost time.Duration
	// Measured is true when Cost comes from counters.
	Measured bool
}

// Would is what a node that decides nothing could do, and what its failure would mean.
type Would struct {
	Effects            policy.Effects
	OnError, OnTimeout policy.Posture
}

// Rollout is the share of sessions in which the hook is in force, "" for all.
func (n *Node) Rollout() string { return rollout.Share(n.Hook.Spared) }

// Exempt reports whether the node is outside the chain deadline: it is
// evaluated in process and has a step budget of its own.
//
//go:noinline
func (n *Node) Exempt() bool { return n.Hook.Kind.InProcess() }

// denials are what ends or refuses the guarded action.
const denials = policy.MayDeny | policy.MaySkip | policy.MayStop | policy.MayHalt

// CanDeny reports whether the node may end or refuse the guarded action.
func (n *Node) CanDeny() bool { return n.Effects.May.Has(denials) }

// Posture is what a failure of the given kind means at this node.
func (n *Node) Posture(kind policy.ErrKind) policy.Posture {
	if kind.Late() {
		return n.OnTimeout
	}
	return n.OnError
}

// EdgeKind is why one node waits for another.
type EdgeKind string

// The kinds of edge (semantics.md §4.1).
const (
	// DataEdge: the later reads what the earlier may write (D1).
	DataEdge EdgeKind = "data"
	// GateEdge: the earlier may halt and the later must not start early (D2).
	GateEdge EdgeKind = "gate"
	// OrderEdge: their use of the world must not be swapped (D3).
	OrderEdge EdgeKind = "order"
)

// Edge says that node To waits for node From.
type Edge struct {
	From, To int
	Kind     EdgeKind
	// Start is true when To waits only for From to have started.
	Start bool
	Why   string
}

// Estimate is what a plan is expected to cost.
type Estimate struct {
	// Serial is the sum, Critical the longest path, Path the hooks on it.
	Serial, Critical time.Duration
	Path             []string
	// FirstDeny is when the first in-process denial is known.
	FirstDeny time.Duration
}

// Pipeline is a sub-pipeline of the lifecycle, linked to the plans of its
// events (semantics.md §1.2).
type Pipeline struct {
	Name  string
	Label policy.Label
	Steps []Step
	// Each is true when the pipeline runs once for each call of a batch.
	Each bool
}

// Step is one node of a pipeline: an event, an action of the host, a nested
// pipeline, or a branch on the last action's outcome.
type Step struct {
	Event  policy.Event
	Action string
	Seq    *Pipeline
	// Needed names the host's condition under which Seq runs, "" for always.
	Needed string
	// OK and Err branch on the last action.
	OK, Err *Step
}

// Has reports whether the event is part of the pipeline.
func (p *Pipeline) Has(e policy.Event) bool {
	return p != nil && lists.Some(p.Steps, func(s *Step) bool { return s.has(e) })
}

func (s *Step) has(e policy.Event) bool {
	return s != nil && (s.Event == e || s.Seq.Has(e) || s.OK.has(e) || s.Err.has(e))
}

// Names adds the events and actions of a step.
func (s *Step) Names(out *[]string) {
	if s == nil {
		return
	}
	if s.Event != "" {
		*out = append(*out, string(s.Event))
	}
	if s.Action != "" {
		*out = append(*out, s.Action)
	}
	if s.Seq != nil {
		for i := range s.Seq.Steps {
			s.Seq.Steps[i].Names(out)
		}
	}
	s.OK.Names(out)
	s.Err.Names(out)
}

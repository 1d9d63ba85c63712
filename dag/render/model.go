package render

import (
	"strconv"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// ModelVersion is the version of the JSON of a Model. It grows when a field
// changes its meaning or goes; new fields do not change it.
const ModelVersion = 1

// Model is a Program as explain shows it: plain data, complete, in an order
// that depends on the policy alone. Every renderer draws a Model and sees
// nothing else (semantics.md §8). All durations are microseconds, unless the
// name says otherwise.
type Model struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"`
	// Event and Tool say what the model was narrowed to, if it was.
	Event policy.Event `json:"event,omitempty"`
	Tool  string       `json:"tool,omitempty"`
	// Agent is whom the answers are for, if that is known.
	Agent string `json:"agent,omitempty"`
	// Compiled is how long compilation took. It is no part of the JSON, which
	// is the same for the same policy.
	Compiled    time.Duration     `json:"-"`
	Sources     []SourceModel     `json:"sources,omitempty"`
	Events      []EventModel      `json:"events"`
	Pipelines   []PipelineModel   `json:"pipelines,omitempty"`
	Diagnostics []DiagnosticModel `json:"diagnostics,omitempty"`
	Warnings    []DiagnosticModel `json:"warnings,omitempty"`
	Notes       []string          `json:"notes,omitempty"`
}

// SourceModel is one file the policy was read from.
type SourceModel struct {
	Name   string      `json:"name"`
	Path   string      `json:"path,omitempty"`
	Tier   policy.Tier `json:"tier"`
	Format string      `json:"format,omitempty"`
	// Untrusted says why the hooks of the file do not run, or is empty.
	Untrusted string   `json:"untrusted,omitempty"`
	Uses      []string `json:"uses,omitempty"`
	Opaque    []string `json:"opaque,omitempty"`
}

// uncovered are the commands that consent to a source does not cover: a user's
// own hooks need none.
func (s *SourceModel) uncovered() []string {
	if s.Tier < policy.TierProject {
		return nil
	}
	return s.Opaque
}

// EventModel is what happens when one event fires. Every loaded hook of the
// event is in it exactly once: in Items, where copies made by recheck carry
// RecheckOf, in Dead or in Unmatched.
type EventModel struct {
	Event policy.Event `json:"event"`
	Class policy.Class `json:"class"`
	// Strategy is how results combine, Halts when the chain ends, in words.
	Strategy   policy.Strategy `json:"strategy"`
	Halts      string          `json:"halts"`
	ByPriority bool            `json:"by_priority,omitempty"`
	DeadlineMS float64         `json:"deadline_ms"`
	// Posture is closed, or open when a failure can let the action pass; Open
	// says through which hooks.
	Posture string      `json:"posture"`
	Open    []OpenModel `json:"open,omitempty"`
	Inline  bool        `json:"inline"`
	// Volatile is true when a Decision is never memoised.
	Volatile      bool          `json:"volatile,omitempty"`
	MaxConcurrent int           `json:"max_concurrent,omitempty"`
	MaxModels     int           `json:"max_models,omitempty"`
	Items         []ItemModel   `json:"items"`
	Edges         []EdgeModel   `json:"edges,omitempty"`
	Breaks        []BreakModel  `json:"breaks,omitempty"`
	Slots         []SlotModel   `json:"slots,omitempty"`
	Timeline      []MomentModel `json:"timeline,omitempty"`
	Estimate      EstimateModel `json:"estimate"`
	Tools         []ToolsModel  `json:"tools,omitempty"`
	NoProcess     []string      `json:"tools_without_process,omitempty"`
	// Losses is what the agent cannot be told and what becomes of it.
	Losses    []dag.Loss       `json:"degraded,omitempty"`
	Unmatched []UnmatchedModel `json:"unmatched,omitempty"`
	Dead      []DeadModel      `json:"dead,omitempty"`
}

// OpenModel is a hook whose failure lets the action pass, and why.
type OpenModel struct {
	Hook string `json:"hook"`
	Why  string `json:"why"`
}

// ItemModel is one step of a chain.
type ItemModel struct {
	// Pos is the step's number as people see it: 1, 2, and 2' for the copy
	// that rechecks 2.
	Pos      string      `json:"pos"`
	Group    string      `json:"group,omitempty"`
	Parallel bool        `json:"parallel,omitempty"`
	Fold     policy.Fold `json:"fold"`
	MayHalt  bool        `json:"may_halt"`
	Hooks    []HookModel `json:"hooks"`
}

// HookModel is one hook of a step.
type HookModel struct {
	// ID names the hook within its event: the step's number, with the place
	// in the group behind a dot; Label is its name, primed for a recheck copy.
	ID        string `json:"id"`
	Name      string `json:"name"`
	Label     string `json:"label"`
	Node      int    `json:"node"`
	RecheckOf string `json:"recheck_of,omitempty"`
	// Because names what made the recheck necessary.
	Because string      `json:"because,omitempty"`
	Kind    policy.Kind `json:"kind"`
	Engine  string      `json:"engine,omitempty"`
	// Cold says whether hookgate evaluates the hook itself where there is no server:
	// "yes", or "no: " and why; "" where that is not known.
	Cold        string             `json:"cold,omitempty"`
	Tier        policy.Tier        `json:"tier"`
	Priority    int                `json:"priority"`
	Origin      string             `json:"origin,omitempty"`
	Description string             `json:"description,omitempty"`
	Locked      bool               `json:"locked,omitempty"`
	Async       bool               `json:"async,omitempty"`
	Durable     bool               `json:"durable,omitempty"`
	Enforcement policy.Enforcement `json:"enforcement,omitempty"`
	Rollout     string             `json:"rollout,omitempty"`
	Filter      string             `json:"filter"`
	// Reads is what the body reads, `*` for all there is.
	Reads  []string `json:"reads"`
	Writes []string `json:"writes"`
	May    []string `json:"may"`
	// MayAll is true when May is all the event obeys.
	MayAll   bool         `json:"may_all,omitempty"`
	World    policy.World `json:"world,omitempty"`
	Spec     bool         `json:"spec"`
	MayHalt  bool         `json:"may_halt"`
	Volatile bool         `json:"volatile,omitempty"`
	// Always is what the hook says whatever it reads.
	Always []string `json:"always,omitempty"`
	Slot   int      `json:"slot"`
	// Mode is inline, process, llm or async.
	Mode      string         `json:"mode"`
	EstUS     Micros         `json:"est_us"`
	Measured  bool           `json:"measured,omitempty"`
	OnError   policy.Posture `json:"on_error"`
	OnTimeout policy.Posture `json:"on_timeout"`
	TimeoutMS float64        `json:"timeout_ms"`
	Retry     int            `json:"retry"`
}

// The modes in which a hook runs.
const (
	ModeInline  = "inline"
	ModeProcess = "process"
	ModeLLM     = "llm"
	ModeAsync   = "async"
)

// EdgeModel says that To waits for From. Both are IDs; the names are beside
// them for readers.
type EdgeModel struct {
	From     string       `json:"from"`
	FromHook string       `json:"from_hook"`
	To       string       `json:"to"`
	ToHook   string       `json:"to_hook"`
	Kind     dag.EdgeKind `json:"kind"`
	// Fields is what flows along a data edge.
	Fields []string `json:"fields,omitempty"`
	Start  bool     `json:"start,omitempty"`
	Why    string   `json:"why"`
}

// BreakModel is where a chain's end leads: the hooks that can say one of On
// leave the part of the lifecycle called To, or make the agent do Action.
type BreakModel struct {
	On     []string      `json:"on"`
	Action policy.Action `json:"action"`
	To     policy.Label  `json:"to,omitempty"`
	Hooks  []string      `json:"hooks"`
	// Any is true when every hook that can end the chain can do this.
	Any bool `json:"any,omitempty"`
}

// SlotModel is one evaluation of in-process hooks.
type SlotModel struct {
	Slot  int      `json:"slot"`
	Hooks []string `json:"hooks"`
	// Holds counts the hooks by kind: `1 rego + 2 expr`.
	Holds string `json:"holds"`
	// Fused are the hooks of the slot that are evaluated at once, by fusion.
	Fused []FusionModel `json:"fused,omitempty"`
	EstUS Micros        `json:"est_us"`
}

// FusionModel is hooks of one kind made one evaluation, or why they could not
// be.
type FusionModel struct {
	Kind  policy.Kind `json:"kind"`
	Hooks []string    `json:"hooks"`
	Fault string      `json:"fault,omitempty"`
	// Pending is true while the fusion is made in the background.
	Pending bool `json:"pending,omitempty"`
}

// MomentModel is what is expected to start together AtUS after the event.
type MomentModel struct {
	AtUS Micros `json:"at_us"`
	// Slot is the slot evaluated then, -1 when hooks are started.
	Slot  int      `json:"slot"`
	Hooks []string `json:"hooks"`
}

// EstimateModel is what a chain is expected to cost.
type EstimateModel struct {
	SerialUS   Micros   `json:"serial_us"`
	CriticalUS Micros   `json:"critical_us"`
	Path       []string `json:"path"`
	// FirstDenyUS is when the first in-process denial is known, 0 when no
	// in-process hook can deny; FirstDenyStarts is how many processes and
	// model calls have been started by then.
	FirstDenyUS     Micros `json:"first_deny_us,omitempty"`
	FirstDenyStarts int    `json:"first_deny_starts,omitempty"`
	// Processes and Models count what runs if no hook ends the chain.
	Processes int `json:"processes"`
	Models    int `json:"models"`
}

// ToolsModel is what a call of any of the tools is expected to cost.
type ToolsModel struct {
	Tools []string `json:"tools"`
	EstimateModel
}

// UnmatchedModel is a live hook that never runs for the tool asked about.
type UnmatchedModel struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Filter string `json:"filter"`
}

// DeadModel is a loaded hook that is in no plan.
type DeadModel struct {
	Name   string          `json:"name"`
	Tier   policy.Tier     `json:"tier"`
	Kind   policy.Kind     `json:"kind"`
	Origin string          `json:"origin,omitempty"`
	Filter string          `json:"filter"`
	Locked bool            `json:"locked,omitempty"`
	Status dag.EntryStatus `json:"status"`
	Reason string          `json:"reason"`
	By     string          `json:"by,omitempty"`
	Code   string          `json:"code,omitempty"`
}

// PipelineModel is a sub-pipeline with what its hooks can break out of.
type PipelineModel struct {
	Name   string           `json:"name"`
	Label  policy.Label     `json:"label"`
	Each   bool             `json:"each,omitempty"`
	Steps  []StepModel      `json:"steps"`
	Breaks []PipeBreakModel `json:"breaks,omitempty"`
}

// StepModel is one step of a pipeline: an event with its hooks, an action of
// the host, or a nested pipeline.
type StepModel struct {
	Event    policy.Event   `json:"event,omitempty"`
	Hooks    []string       `json:"hooks,omitempty"`
	Action   string         `json:"action,omitempty"`
	Pipeline *PipelineModel `json:"pipeline,omitempty"`
	Needed   string         `json:"needed,omitempty"`
	OK       *StepModel     `json:"ok,omitempty"`
	Err      *StepModel     `json:"err,omitempty"`
}

// PipeBreakModel is one break edge: the hooks of Event, by saying one of On,
// leave the pipeline labelled To, so that Skips do not happen.
type PipeBreakModel struct {
	Event policy.Event `json:"event"`
	Hooks []string     `json:"hooks"`
	On    []string     `json:"on"`
	To    policy.Label `json:"to"`
	// Exported is true when no pipeline here has the label: the host is told.
	Exported bool     `json:"exported,omitempty"`
	Skips    []string `json:"skips"`
}

// DiagnosticModel is one finding.
type DiagnosticModel struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Hook     string `json:"hook,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Msg      string `json:"msg"`
	Fix      string `json:"fix,omitempty"`
}

// Micros is a duration in microseconds.
type Micros float64

//go:noinline
func micros(d time.Duration) Micros { return Micros(float64(d) / 1e3) }

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// Text is the duration as people read it, rounded to the given number of
// significant digits: 0.1µs, 13µs, 1.45s.
func (m Micros) Text(digits int) string {
	units := [...]struct {
		name string
		us   float64
	}{{"µs", 1}, {"ms", 1e3}, {"s", 1e6}}
	for i, u := range units {
		v, err := strconv.ParseFloat(strconv.FormatFloat(float64(m)/u.us, 'g', digits, 64), 64)
		if err == nil && (v < 1000 || i == len(units)-1) {
			return strconv.FormatFloat(v, 'f', -1, 64) + u.name
		}
	}
	return ""
}

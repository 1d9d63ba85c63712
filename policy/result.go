package policy

import (
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// By names what decided: a hook, or one rule of it (`hook#2`), and where that
// is written.
type By struct {
	Name string
	At   diag.Span
}

// Reason is one reason for a verdict, the hook that gave it and where it is
// written. Mask fills in Hook.
type Reason struct {
	Text string
	Hook string
	At   diag.Span
}

// Failure is a hook that failed and what that meant.
type Failure struct {
	Hook    string
	Kind    ErrKind
	Error   string
	OnError Posture
	// At is where in the policy it happened, or where the hook is written.
	At diag.Span
}

// ToolConfig is what hooks say about the tools to offer.
type ToolConfig struct {
	// Mode is "", AUTO, ANY or NONE, each stronger than the one before.
	Mode string
	// Names is a sorted set.
	Names []string
}

// Result is what one hook, or a run of hooks, said. The zero Result says
// nothing and is the unit of Join, which is associative and not commutative
// (semantics.md §2.3).
type Result struct {
	// What is small stands together: a Result is copied for every rule of an
	// event, most of which say nothing.
	Verdict  Verdict
	Control  Control
	Suppress bool
	// EndChain ends the chain without breaking out of anything: abort where
	// the event obeys no control.
	EndChain bool

	VerdictBy By
	ControlBy By

	Patch    Patch
	Reasons  []Reason
	Feedback []string
	Context  []string
	System   []string
	Inject   []any
	// StopReasons say why a turn ends; they are not reasons.
	StopReasons []string
	ToolConfig  *ToolConfig

	Failed []Failure
	// Agent are answers in an agent's own words, one a hook, which Rules.Conclude
	// combines. hookc's own protocols have none.
	Agent    []AgentAnswer
	Warnings []Warning
}

// Warning is something that happened at run time and must not stay silent.
type Warning struct {
	Code  *diag.Code
	Hook  string
	Text  string
	Would *Would // nil but of a hook that decides nothing
}

func (w Warning) String() string {
	out := w.Text
	if w.Hook != "" {
		out = w.Hook + ": " + out
	}
	if w.Code != nil {
		out = w.Code.ID + " " + out
	}
	return out
}

// Join is x followed by y, verdicts combined by fold.
func Join(fold Fold, x, y Result) Result {
	z := x
	switch {
	case fold == FoldMax && y.Verdict > x.Verdict,
		fold == FoldFirst && x.Verdict == None,
		fold == FoldLast && y.Verdict != None:
		z.Verdict, z.VerdictBy = y.Verdict, y.VerdictBy
	}
	if y.Control > x.Control {
		z.Control, z.ControlBy = y.Control, y.ControlBy
	}
	z.Patch = x.Patch.Then(y.Patch)
	z.Reasons = join(x.Reasons, y.Reasons)
	z.Feedback = join(x.Feedback, y.Feedback)
	z.Context = join(x.Context, y.Context)
	z.System = join(x.System, y.System)
	z.Inject = join(x.Inject, y.Inject)
	z.StopReasons = join(x.StopReasons, y.StopReasons)
	z.ToolConfig = x.ToolConfig.union(y.ToolConfig)
	z.Suppress = x.Suppress || y.Suppress
	z.Failed = join(x.Failed, y.Failed)
	z.EndChain = x.EndChain || y.EndChain
	z.Agent = join(x.Agent, y.Agent)
	z.Warnings = join(x.Warnings, y.Warnings)
	return z
}

// join concatenates without ever writing into x's spare capacity.
func join[T any](x, y []T) []T {
	switch {
	case len(y) == 0:
		return x
	case len(x) == 0:
		return y
	}
	return append(slices.Clip(x), y...)
}

var toolModes = []string{"", "AUTO", "ANY", "NONE"}

func (t *ToolConfig) union(u *ToolConfig) *ToolConfig {
	switch {
	case t == nil:
		return u
	case u == nil:
		return t
	}
	out := &ToolConfig{Mode: t.Mode}
	if slices.Index(toolModes, u.Mode) > slices.Index(toolModes, t.Mode) {
		out.Mode = u.Mode
	}
	out.Names = lists.Concat(t.Names, u.Names)
	out.Names = lists.Distinct(out.Names)
	return out
}

// value is the config as a JSON value.
func (t *ToolConfig) value() map[string]any {
	m := map[string]any{}
	if t.Mode != "" {
		m["mode"] = t.Mode
	}
	if len(t.Names) > 0 {
		names := make([]any, len(t.Names))
		for i, n := range t.Names {
			names[i] = n
		}
		m["names"] = names
	}
	return m
}

// Quiet reports whether the result says nothing at all, failures and warnings
// aside.
func (r *Result) Quiet() bool {
	return r.Verdict == None && r.Control == Go && r.Patch.Empty() && len(r.Reasons) == 0 && len(r.Feedback) == 0 &&
		len(r.Context) == 0 && len(r.System) == 0 && len(r.Inject) == 0 && len(r.StopReasons) == 0 &&
		r.ToolConfig == nil && !r.Suppress && !r.EndChain && len(r.Agent) == 0
}

// texts drops empty texts, which are no texts.
func texts(in []string) []string {
	return lists.DeleteFunc(lists.Copy(in), func(s string) bool { return s == "" })
}

// JSON is r with the values that it carries as JSON values: what a rule written
// in Go answers. A word that hookc does not have is an error: to leave it out
// would let through what the rule did not.
func (r Result) JSON() (Result, error) {
	switch {
	case r.Verdict > Deny:
		return Result{}, Failf(ErrParse, "there is no verdict %d", r.Verdict)
	case r.Control > Halt:
		return Result{}, Failf(ErrParse, "there is no control %d", r.Control)
	case r.ToolConfig != nil && !lists.Has(toolModes, r.ToolConfig.Mode):
		return Result{}, Failf(ErrParse, "there is no mode %q of tools", r.ToolConfig.Mode)
	}
	edits := lists.Copy(r.Patch.edits)
	for i, e := range edits {
		v, err := goValues.JSON(e.Value, 1, e.Path.String())
		if err != nil {
			return Result{}, Failf(ErrParse, "%w", err)
		}
		if t := e.Path.Field.Spec().Type; len(e.Path.Keys) == 0 && v != nil && !t.Holds(v) {
			return Result{}, Failf(ErrParse, "%s must be %s", e.Path, t.Article())
		}
		edits[i].Value = v
	}
	inject, err := goValues.JSON(r.Inject, 1, "inject_messages")
	if err != nil {
		return Result{}, Failf(ErrParse, "%w", err)
	}
	r.Patch.edits = edits
	r.Inject, _ = inject.([]any)
	return r, nil
}

// Package runner knows the kinds of hook: how a body of each is made ready,
// what it may do and how it is run. One file a kind; Kinds returns them all
// for compiler.Config. Runners are safe for concurrent use, return soon after
// their context ends and leave no process and no goroutine behind. What a
// script or a model answers becomes a policy.Result or a *policy.HookError,
// never a silent nothing (semantics.md §2.6, §3, §5.4).
package runner

import (
	"time"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/kind/expr"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// Options are what the kinds need from the program that embeds them. The zero
// Options are usable: llm hooks then fail, as no model is configured.
type Options struct {
	// Model answers llm hooks; nil means none is configured.
	Model policy.Model
	// DefaultModel is the model of llm hooks where neither the hook nor its
	// policy file names one; "" leaves the choice to Model.
	DefaultModel string
	// Budget bounds one evaluation of an in-process rule; 0 is DefaultBudget.
	Budget time.Duration
	// Rules are rules of the embedder's, beside the builtin ones.
	Rules []rule.Rule
	// Instances, when set, keep what Rules made, from one compilation to the next.
	Instances *Instances
	// Self is what the rule self-guard protects, or nil.
	Self *guard.Self
	// Debug is told of every attempt of a bash or llm hook, or is nil. It is
	// called on the hook's goroutine and must be safe for concurrent use.
	Debug func(DebugRecord)
	// Environ is the environment bash hooks are given beside their own
	// variables; nil is this process's. Programs are looked for on this
	// process's PATH all the same.
	Environ []string
	// Shared, when set, is the shared Rego and data of rego hooks, instead of what
	// is on disk.
	Shared *rego.Shared
	// Draft, when set, gives the text of a file that is not written to the disk yet.
	Draft func(path string) (string, bool)
	// Moving is for findings alone: Rego that is elsewhere in its file now is not
	// compiled again, and its body names the old place.
	Moving bool
	// Eyes, when set, look at what native code of rego hooks says.
	Eyes *rego.Eyes
	// Cover, when set, sees what rules evaluate that are no native code.
	Cover dag.Cover
}

// DefaultBudget is the step budget of in-process rules (semantics.md §5.4).
const DefaultBudget = 100 * time.Millisecond

// budget is the step budget in force.
func (o Options) budget() time.Duration {
	if o.Budget > 0 {
		return o.Budget
	}
	return DefaultBudget
}

// DebugRecord is what one attempt of a hook outside hookc's process did, for
// --debug. Secrets are redacted in every text.
type DebugRecord struct {
	Hook  string       `json:"hook"`
	Event policy.Event `json:"event"`
	Kind  policy.Kind  `json:"kind"`
	// Command is the command line, or the model called.
	Command string `json:"command"`
	// Exit is the exit status, -1 when there is none.
	Exit int `json:"exit"`
	// Stderr is the end of what the command wrote to standard error.
	Stderr string `json:"stderr,omitempty"`
	// Error is why the attempt failed, "" when it did not.
	Error string `json:"error,omitempty"`
	// Micros is how long the attempt took, in microseconds.
	Micros int64 `json:"us"`
	// Attempt counts from 0.
	Attempt int `json:"attempt"`
}

// kinds make the value of each kind of hook.
var kinds = map[policy.Kind]func(Options) dag.Kind{
	policy.KindBash: bashKind, policy.KindLLM: llmKind, policy.KindBuiltin: builtinKind,
	policy.KindRego: func(o Options) dag.Kind { return budgeted(regoKind(o)) },
	policy.KindExpr: func(o Options) dag.Kind { return budgeted(expr.Kind(o.budget(), o.Cover)) },
}

// Add adds a kind of hook from a file of its own, with the keys that its hooks have
// in a policy: var _ = Add(name, inProcess, make, keys...). Its Prepare finds their
// values in policy.Body.Options.
func Add(name policy.Kind, inProcess bool, make func(Options) dag.Kind, keys ...source.Key) struct{} {
	source.AddKind(name, inProcess, keys...)
	kinds[name] = make
	return struct{}{}
}

// Kinds returns every kind of hook, for compiler.Config.
func Kinds(o Options) []dag.Kind {
	var out []dag.Kind
	for _, name := range policy.KindNames() {
		out = append(out, deferring(kinds[policy.Kind(name)](o)))
	}
	return out
}

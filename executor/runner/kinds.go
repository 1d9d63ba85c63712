package runner

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/kind/expr"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
)

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

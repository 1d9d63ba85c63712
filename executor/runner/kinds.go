package runner

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/kind/expr"
)

// Kinds returns every kind of hook, for compiler.Config.
func Kinds(o Options) []dag.Kind {
	return []dag.Kind{deferring(bashKind(o)), deferring(llmKind(o)), deferring(budgeted(regoKind(o))), deferring(budgeted(expr.Kind(o.budget()))), deferring(builtinKind(o))}
}

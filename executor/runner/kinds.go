package runner

import "github.com/hookc/hookc/dag"

// Kinds returns every kind of hook, for compiler.Config.
func Kinds(o Options) []dag.Kind {
	return []dag.Kind{bashKind(o), llmKind(o), budgeted(regoKind(o)), budgeted(exprKind(o)), builtinKind(o)}
}

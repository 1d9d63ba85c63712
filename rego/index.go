package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/dag"
)

// Unindexed are the rules of the entry points that OPA's rule index never
// leaves out, for the lint. Rules without a test are none: there is nothing
// to find them by.
func (m *Module) Unindexed() []dag.Unindexed {
	var out []dag.Unindexed
	for _, e := range m.entries {
		if e.index == nil {
			continue
		}
		hit, err := e.index.Lookup(otherwise{})
		if err != nil {
			continue // what the index cannot be asked about it can leave out
		}
		matched := make(map[*ast.Rule]bool, len(hit.Rules))
		for _, r := range hit.Rules {
			matched[r] = true
		}
		ast.IndexResultPool.Put(hit)
		for _, s := range e.sources {
			if matched[s.rule] && !isFact(s.rule) {
				first := e.written(s.rule).Body[0]
				out = append(out, dag.Unindexed{At: m.where.span(first.Location), Hint: indexHint(first)})
			}
		}
	}
	return out
}

// written is a compiled rule as its author wrote it.
func (e *entry) written(compiled *ast.Rule) *ast.Rule {
	for _, r := range e.rules {
		if r.Location.Offset == compiled.Location.Offset {
			return r
		}
	}
	return compiled
}

// otherwise answers the rule index as an event does that has every field, each
// with a value that no policy names.
type otherwise struct{}

func (otherwise) Resolve(ref ast.Ref) (ast.Value, error) {
	if !ref[0].Equal(ast.InputRootDocument) {
		return nil, ast.UnknownValueErr{}
	}
	return ast.String("\x00no policy names this\x00"), nil
}

// indexHint says how to write a test that the index understands.
func indexHint(first *ast.Expr) string {
	name := ""
	ast.WalkRefs(first, func(ref ast.Ref) bool {
		if _, known := ast.BuiltinMap[ref.String()]; known && name == "" && ref.String() != ast.Equal.Name && ref.String() != ast.Equality.Name {
			name = ref.String()
		}
		return false
	})
	switch name {
	case ast.Lower.Name, ast.Upper.Name, ast.TrimSpace.Name:
		return "compare the field with each spelling: input.tool_name in {\"Bash\", \"bash\"}"
	case ast.RegexMatch.Name:
		return "test what is constant before the expression: input.tool_name == …, or startswith"
	}
	return "begin with input.tool_name == …, or give the hook filter: {tool_name: …}"
}

package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy/diag"
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
				out = append(out, m.unindexed(e, s))
			}
		}
	}
	return out
}

func (m *Module) unindexed(e *entry, s *source) dag.Unindexed {
	first := e.written(s.rule).Body[0]
	return dag.Unindexed{At: m.where.span(first.Location), Hint: indexHint(first)}
}

// Unindexed are the rules that the index of the native code never leaves out
// for an event that has all fields, and of entry points that are topdown's those
// that OPA's does not. The module is there: it is of the compilation that made
// the code.
func (n *Native) Unindexed() []dag.Unindexed {
	m, err := n.module()
	if err != nil {
		return nil
	}
	if n.rest {
		return m.Unindexed() // topdown is asked besides
	}
	var out []dag.Unindexed
	for i := range n.entries {
		always := map[diag.Span]bool{}
		for block, findable := range n.code.Findable(n.entries[i].fn) {
			always[n.entries[i].at[block]] = !findable
		}
		for _, s := range m.entries[i].sources {
			if always[s.branches[0].at] && !isFact(s.rule) {
				out = append(out, m.unindexed(m.entries[i], s))
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

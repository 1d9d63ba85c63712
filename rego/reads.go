package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Reads lists what of an event the rule of an entry point looks at that is
// written at a place, and the rules it refers to; nil for no rule.
func (m *Module) Reads(at diag.Span) []policy.Path {
	l := looker{m: m, seen: map[*ast.Rule]bool{}}
	for _, e := range m.entries {
		for _, s := range e.sources {
			r := s.rule
			for i := range s.branches {
				if s.branches[i].at == at {
					l.rule(r)
				}
				r = r.Else
			}
		}
	}
	sortPaths(l.paths)
	return lists.CompactFunc(l.paths, func(a, b policy.Path) bool { return lists.Equal(pathKey(a), pathKey(b)) })
}

// looker follows a rule.
type looker struct {
	m     *Module
	seen  map[*ast.Rule]bool
	paths []policy.Path
}

func (l *looker) rule(r *ast.Rule) {
	if l.seen[r] {
		return
	}
	l.seen[r] = true
	own := *r
	own.Else = nil // another rule, for whoever asks for this one
	ast.WalkRefs(&own, func(ref ast.Ref) bool {
		switch {
		case ref[0].Equal(ast.InputRootDocument):
			l.input(ref)
		case ref[0].Equal(ast.DefaultRootDocument):
			for _, next := range l.m.compiler.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true}) {
				for ; next != nil; next = next.Else {
					l.rule(next)
				}
			}
		}
		return false
	})
}

func (l *looker) input(ref ast.Ref) {
	keys := leadingKeys(ref)
	if len(keys) == 0 {
		return
	}
	if f, known := policy.ParseField(keys[0]); known {
		l.paths = append(l.paths, policy.Path{Field: f, Keys: expressible(keys[1:])})
	}
}

// Reads is [Module.Reads].
func (n *Native) Reads(at diag.Span) []policy.Path {
	m, err := n.module()
	if err != nil {
		return nil
	}
	return m.Reads(at)
}

// Reads is [Module.Reads]. it compiles the module.
func (s *Stored) Reads(at diag.Span) []policy.Path {
	if n, ok := s.Made().(*Native); ok {
		return n.Reads(at)
	}
	return nil
}

package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy"
)

// settle takes out of the dispatcher's rules the guards that OPA's rule index
// has decided when a rule is evaluated at all, so that they are not tested once
// more for every rule: half of what a rule of one test costs. They only keep the
// rules of hooks that were not chosen from being evaluated; what such a rule
// says is dropped anyway. A guard that the index cannot use stays.
func (b *builder) settle(c *ast.Compiler) {
	node := c.RuleTree.Find(ast.Ref{ast.DefaultRootDocument, ast.StringTerm(fusedRoot), ast.StringTerm(fusedSet)})
	if node == nil || node.Index == nil {
		return
	}
	open := map[policy.Field]map[*ast.Rule]bool{}
	for _, f := range b.guards {
		if open[f] == nil {
			open[f] = unsettled(node.Index, f)
		}
	}
	for _, r := range c.Modules[fusedRoot].Rules {
		rest := slices.DeleteFunc(slices.Clone(r.Body), func(x *ast.Expr) bool {
			f, guard := b.guards[x.Location]
			return guard && open[f] != nil && !open[f][r]
		})
		switch {
		case len(rest) == len(r.Body):
			continue
		case len(rest) == 0:
			rest = []*ast.Expr{ast.NewExpr(ast.InternedTerm(true)).SetLocation(r.Location)}
		}
		r.Body = ast.NewBody(rest...)
	}
}

// unsettled are the rules that the index does not leave out for a value of
// field f that no policy names, whatever the rest of the event is; nil where it
// cannot be asked.
func unsettled(index ast.RuleIndex, f policy.Field) map[*ast.Rule]bool {
	hit, err := index.Lookup(odd{ast.String(f.String())})
	if err != nil {
		return nil
	}
	out := make(map[*ast.Rule]bool, len(hit.Rules))
	for _, r := range hit.Rules {
		out[r] = true
	}
	ast.IndexResultPool.Put(hit)
	return out
}

// odd answers the rule index as an event does of which nothing is known but that
// one field is what no policy names.
type odd struct{ field ast.String }

func (o odd) Resolve(ref ast.Ref) (ast.Value, error) {
	if len(ref) == 2 && ref[0].Equal(ast.InputRootDocument) && ref[1].Value.Compare(o.field) == 0 {
		return otherwise{}.Resolve(ref)
	}
	return nil, ast.UnknownValueErr{}
}

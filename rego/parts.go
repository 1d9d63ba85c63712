package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/cases"
)

// cover tells a Cover what topdown evaluates. It is a topdown.QueryTracer.
type cover struct {
	dag.Cover
	where positions
}

// covered has the parts of modules known to a Cover, which is told from then on
// which of them are evaluated. Rules of modules with tests are no parts.
func covered(c dag.Cover, where positions, modules map[string]*ast.Module) *cover {
	for _, m := range modules {
		if slices.ContainsFunc(m.Rules, func(r *ast.Rule) bool { return cases.Ref(r) != nil }) {
			continue
		}
		for _, rule := range m.Rules {
			coverRule(c, where, where.span(m.Package.Location), rule)
		}
	}
	return &cover{c, where}
}

func coverRule(c dag.Cover, where positions, module diag.Span, rule *ast.Rule) {
	c.Part(dag.Part{Kind: dag.PartBody, Name: rule.Head.Ref().String(), Module: module, At: where.span(rule.Head.Location)})
	ast.WalkExprs(rule.Body, func(x *ast.Expr) bool {
		if b, ok := x.Terms.(*ast.Term); !ok || !ast.Boolean(true).Equal(b.Value) { // a fact's body
			c.Part(dag.Part{Kind: dag.PartLine, At: where.span(x.Location)})
		}
		return false
	})
	if rule.Else != nil {
		coverRule(c, where, module, rule.Else)
	}
}

// Enabled is true: a cover is given where something is to be seen.
func (*cover) Enabled() bool { return true }

// Config wants no values.
func (*cover) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent tells of an expression that is evaluated and of a body that held.
func (c *cover) TraceEvent(e topdown.Event) {
	switch n := e.Node.(type) {
	case *ast.Expr:
		if e.Op == topdown.EvalOp {
			c.Seen(c.where.span(n.Location), true)
		}
	case *ast.Rule:
		if e.Op == topdown.ExitOp {
			c.Seen(c.where.span(n.Head.Location), true)
		}
	}
}

// Piece is a part of a hook's Rego, as bytes [Start,End) of its text.
type Piece struct{ Start, End int }

// RulePiece is a rule of a hook's Rego with the conditions of its body; else
// branches are not among them.
type RulePiece struct {
	Piece
	// Name is the rule's, which is written at Head.
	Name string
	Head Piece
	// Default is true of a default.
	Default    bool
	Conditions []Piece
}

// Pieces are the rules of a hook's Rego, for those who try what changes of it do.
// Text that does not parse has none.
func Pieces(h *policy.Hook) []RulePiece {
	u := newUnit(h)
	u.parse()
	if u.own == nil {
		return nil
	}
	var out []RulePiece
	for _, rule := range u.own.Rules {
		r := RulePiece{Piece: u.piece(rule.Location), Name: rule.Head.Ref().String(), Default: rule.Default}
		at := strings.Index(h.Body.Source.Value[r.Start:r.End], r.Name)
		if at < 0 {
			continue // written in another way than it is told
		}
		r.Head = Piece{r.Start + at, r.Start + at + len(r.Name)}
		for _, x := range rule.Body {
			p := u.piece(x.Location)
			if _, some := x.Terms.(*ast.SomeDecl); some || x.IsAssignment() || p.Start < r.Head.End || p.End > r.End || x.Generated {
				continue // a fact's body is where its head is
			}
			r.Conditions = append(r.Conditions, p)
		}
		out = append(out, r)
	}
	return out
}

func (u *unit) piece(loc *ast.Location) Piece {
	end := min(loc.Offset+len(loc.Text), len(u.hook.Body.Source.Value))
	return Piece{min(loc.Offset, end), end}
}

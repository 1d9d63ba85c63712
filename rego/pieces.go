package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy"
)

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

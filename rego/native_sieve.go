package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/directed"
)

// sieve is the index of an entry point's rules while native code is compared: it
// leaves out what need not be evaluated.
type sieve struct {
	ast.RuleIndex
	node *ast.TreeNode
	e    *entry
	*directed.Spare
	// rules are the rules by block, alike those that may be left out.
	rules []*ast.Rule
	alike map[*ast.Rule]bool
	entry int32
	// kind and beside are what the index says of all rules, and those that are not
	// alike.
	kind   ast.IndexResult
	beside []*ast.Rule
	// asked are those of alike that are evaluated, nil for all.
	asked []*ast.Rule
}

// Lookup is a ast.RuleIndex's. What it leaves to be evaluated holds by its body
// alone: the index, that only saves work, is not asked.
func (s *sieve) Lookup(r ast.ValueResolver) (*ast.IndexResult, error) {
	if s.asked == nil {
		return s.RuleIndex.Lookup(r)
	}
	out := ast.NewIndexResult(s.kind.Kind)
	out.Default, out.OnlyGroundRefs = s.kind.Default, s.kind.OnlyGroundRefs
	out.Rules = append(append(out.Rules, s.beside...), s.asked...)
	return out, nil
}

// sieves puts sieves before the rules of those entry points that have many alike;
// done takes them away.
func (n *Native) sieves(m *Module, tries *directed.Tries) (all []*sieve, done func()) {
	for i := range n.entries {
		if s := n.sieve(m, i, tries.Spare(n.entries[i].fn)); s != nil {
			s.RuleIndex, s.node.Index, s.e.index = s.node.Index, s, s
			all = append(all, s)
		}
	}
	return all, func() {
		for _, s := range all {
			s.node.Index, s.e.index = s.RuleIndex, s.RuleIndex
		}
	}
}

func (n *Native) sieve(m *Module, i int, spare *directed.Spare) *sieve {
	own, e := &n.entries[i], m.entries[i]
	if spare == nil || !own.many {
		return nil
	}
	s := &sieve{e: e, node: m.compiler.RuleTree.Find(e.ref), Spare: spare, alike: map[*ast.Rule]bool{}, entry: int32(i)}
	if s.node == nil || s.node.Index == nil || e.index != s.node.Index {
		return nil
	}
	at := map[spot]*ast.Rule{}
	for _, from := range e.sources {
		where := spotOf(from.rule.Location)
		if at[where] != nil || from.rule.Else != nil {
			return nil
		}
		at[where] = from.rule
	}
	p := n.code.Program()
	for j, b := range p.Funcs[own.fn].Blocks {
		var rule *ast.Rule
		if b.Place >= 0 {
			w := p.Places[b.Place]
			rule = at[spot{p.Files[w.File], int(w.Row), int(w.Col)}]
		}
		s.rules = append(s.rules, rule)
		if rule != nil && spare.Alike(j) {
			s.alike[rule] = true
		}
	}
	all, err := s.node.Index.AllRules(nil)
	if err != nil || len(all.Else) > 0 {
		return nil
	}
	s.kind = *all
	for _, rule := range all.Rules {
		if !s.alike[rule] {
			s.beside = append(s.beside, rule)
		}
	}
	return s
}

// ask has the rules evaluated that an event of which native code was told this may
// show something of; false for all.
func (s *sieve) ask(event int, delivered []delivered) bool {
	s.asked = nil
	aimed, all := s.Aimed(event)
	if all {
		return false
	}
	asked := []*ast.Rule{}
	ask := func(rule *ast.Rule) {
		if s.alike[rule] && !lists.Among(asked, rule) {
			asked = append(asked, rule)
		}
	}
	for _, block := range aimed {
		if s.rules[block] == nil {
			return false
		}
		ask(s.rules[block])
	}
	for _, t := range delivered {
		if t.entry != s.entry {
			continue
		}
		if t.block < 0 || s.rules[t.block] == nil {
			return false
		}
		ask(s.rules[t.block])
	}
	s.asked = asked
	return true
}

// askAll has everything evaluated.
func askAll(sieves []*sieve) {
	for _, s := range sieves {
		s.asked = nil
	}
}

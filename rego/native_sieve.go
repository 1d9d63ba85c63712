package rego

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/directed"
)

// Of many rules that are alike, which differ in constants only, all are evaluated by
// topdown on the events directed at the first mostWhole of them and on one in
// oneWhole of the others. On the rest of the events those are that are not among
// them or are one of the first mostBeside, that the event is directed at, and that
// native code says something by. With a thousand such rules topdown has a tenth
// of the work, and each rule its own events still.
const (
	mostWhole  = 2
	mostBeside = 8
	oneWhole   = 32
)

// sieve is the index of an entry point's rules while native code is compared: it
// leaves out what need not be evaluated.
type sieve struct {
	ast.RuleIndex
	node *ast.TreeNode
	e    *entry
	fn   int
	// rules are the rules by block, alike those that may be left out.
	rules []*ast.Rule
	alike map[*ast.Rule]bool
	entry int32
	// asked are those of alike that are evaluated, nil for all.
	asked map[*ast.Rule]bool
}

// Lookup is a ast.RuleIndex's.
func (s *sieve) Lookup(r ast.ValueResolver) (*ast.IndexResult, error) {
	out, err := s.RuleIndex.Lookup(r)
	if err != nil || s.asked == nil {
		return out, err
	}
	var rest []*ast.Rule
	for _, rule := range out.Rules {
		if !s.alike[rule] || s.asked[rule] {
			rest = append(rest, rule)
		}
	}
	out.Rules = rest
	return out, nil
}

// sieves puts sieves before the rules of those entry points that have many alike;
// done takes them away. nth are the blocks of each function, by which of its shape
// each is.
func (n *Native) sieves(m *Module, nth map[int][]int) (all []*sieve, done func()) {
	for i := range n.entries {
		if s := n.sieve(m, i, nth[n.entries[i].fn]); s != nil {
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

func (n *Native) sieve(m *Module, i int, nth []int) *sieve {
	own, e := &n.entries[i], m.entries[i]
	if own.fn < 0 || !own.many || len(nth) <= 2*directed.MostAlike {
		return nil
	}
	s := &sieve{e: e, node: m.compiler.RuleTree.Find(e.ref), fn: own.fn, alike: map[*ast.Rule]bool{}, entry: int32(i)}
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
		if rule != nil && nth[j] > mostBeside {
			s.alike[rule] = true
		}
	}
	return s
}

// ask has the rules evaluated that an event of which native code was told this may
// show something of; false for all.
func (s *sieve) ask(which int, of directed.Aim, told []told) bool {
	s.asked = nil
	if of.Fn != s.fn || of.Nth <= mostWhole || which%oneWhole == 0 {
		return false
	}
	asked := map[*ast.Rule]bool{s.rules[of.Block]: true}
	for _, t := range told {
		if t.entry != s.entry {
			continue
		}
		if t.block < 0 {
			return false
		}
		asked[s.rules[t.block]] = true
	}
	if asked[nil] {
		return false
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

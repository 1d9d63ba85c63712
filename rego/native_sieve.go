package rego

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/rego/directed"
)

// Of many rules that are alike, which differ in constants only, all are evaluated by
// topdown on the events directed at the first mostWhole of them, on one in oneWhole
// of the others, and of very many events on allWhole of them: all rules on all
// events would be their square. On the rest of the events those are evaluated that
// are not among them or are one of the first mostBeside, that the event is directed
// at, and that native code says something by. Each rule has its own events still.
const (
	mostWhole  = 2
	mostBeside = 8
	oneWhole   = 32
	allWhole   = 16
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
	// whole has all rules evaluated on one event of so many.
	whole int
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
// done takes them away. nth are the blocks of each function, by which of its shape
// each is.
func (n *Native) sieves(m *Module, nth map[int][]int, events int) (all []*sieve, done func()) {
	for i := range n.entries {
		if s := n.sieve(m, i, nth[n.entries[i].fn]); s != nil {
			s.whole = max(oneWhole, events/allWhole)
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
func (s *sieve) ask(which int, of directed.Aim, delivered []delivered) bool {
	s.asked = nil
	if of.Fn != s.fn || of.Nth <= mostWhole || which%s.whole == 0 {
		return false
	}
	asked := []*ast.Rule{}
	ask := func(rule *ast.Rule) {
		if s.alike[rule] && !slices.Contains(asked, rule) {
			asked = append(asked, rule)
		}
	}
	if s.rules[of.Block] == nil {
		return false
	}
	ask(s.rules[of.Block])
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

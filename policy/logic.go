package policy

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
)

// What can be proved about filters without looking at an event: whether one
// can match at all, whether one implies or excludes another. All of it is
// sound and none of it complete: a regular expression is opaque.

// Contradiction returns an atom of the filter that no event satisfies
// together with the other one returned (or alone, when that is nil), or nil,
// nil when the filter is not known to be unsatisfiable.
func (m *Matcher) Contradiction() (a, b *Atom) {
	for i := range m.Atoms {
		if x := &m.Atoms[i]; x.Op == AtomIn && len(x.Values) == 0 {
			return x, nil
		}
		for j := range i {
			if m.Atoms[j].excludes(&m.Atoms[i]) {
				return &m.Atoms[i], &m.Atoms[j]
			}
		}
	}
	return nil, nil
}

// Implies reports whether n provably matches every context that m matches.
func (m *Matcher) Implies(n *Matcher) bool {
	for i := range n.Atoms {
		implied := lists.Some(m.Atoms, func(a *Atom) bool { return a.implies(&n.Atoms[i]) })
		if !implied {
			return false
		}
	}
	return true
}

// Excludes reports whether m and n provably never match one event, where
// their contexts may differ in the fields of changed.
func (m *Matcher) Excludes(n *Matcher, changed Paths) bool {
	for i := range m.Atoms {
		a := &m.Atoms[i]
		if FieldPaths(a.Reads...).Overlaps(changed) {
			continue
		}
		if lists.Some(n.Atoms, func(b *Atom) bool { return a.excludes(b) }) {
			return true
		}
	}
	return false
}

// implies reports whether what satisfies a satisfies b.
func (a *Atom) implies(b *Atom) bool {
	if a.Field != b.Field {
		return false
	}
	switch {
	case a.Op == AtomMatch && b.Op == AtomMatch:
		return a.Key == b.Key && lists.Equal(a.Values, b.Values)
	case a.Op == AtomMatch || b.Op == AtomMatch:
		return false
	case a.Op == AtomIn && b.Op == AtomIn:
		return !slices.ContainsFunc(a.Values, func(v string) bool { return !lists.Has(b.Values, v) })
	case a.Op == AtomIn:
		return !slices.ContainsFunc(a.Values, func(v string) bool { return !strings.HasPrefix(v, b.Values[0]) })
	case b.Op == AtomPrefix:
		return strings.HasPrefix(a.Values[0], b.Values[0])
	}
	return false
}

// excludes reports whether no value satisfies both atoms.
func (a *Atom) excludes(b *Atom) bool {
	if a.Field != b.Field || a.Op == AtomMatch || b.Op == AtomMatch {
		return false
	}
	switch {
	case a.Op == AtomIn && b.Op == AtomIn:
		return !slices.ContainsFunc(a.Values, func(v string) bool { return lists.Has(b.Values, v) })
	case a.Op == AtomIn:
		return !slices.ContainsFunc(a.Values, func(v string) bool { return strings.HasPrefix(v, b.Values[0]) })
	case b.Op == AtomIn:
		return b.excludes(a)
	}
	return !strings.HasPrefix(a.Values[0], b.Values[0]) && !strings.HasPrefix(b.Values[0], a.Values[0])
}

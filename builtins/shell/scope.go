package shell

import (
	"maps"
	"slices"
	"sort"

	"github.com/hookc/hookc/internal/lists"
)

// shLocal is a variable of a function: what its name held before, which it
// holds again when the function of that level ends.
type shLocal struct {
	name  string
	level int
	old   []shBinding
	had   bool
	// maybe is true for one that is local in some branch only, given for one that stands
	// before the call: name=value f.
	maybe, given bool
}

// local makes a variable one of the function being read.
func (s *shState) local(name string) (fresh bool) {
	old, had := s.vars.get(name)
	if i := slices.IndexFunc(s.locals, func(l shLocal) bool { return l.name == name && l.level == s.level }); i >= 0 || s.level == 0 {
		if i >= 0 && s.locals[i].maybe { // what is now may be what was before
			s.locals[i].old, s.locals[i].had, s.locals[i].maybe = mergeBindings(s.locals[i].before(), old), true, false
		}
		return false
	}
	s.locals = append(s.locals, shLocal{name: name, level: s.level, old: old, had: had})
	return true
}

// leave ends a function: its variables are what they were before.
func (s *shState) leave() {
	for len(s.locals) > 0 && s.locals[len(s.locals)-1].level >= s.level {
		s.restore(s.locals[len(s.locals)-1])
		s.locals = s.locals[:len(s.locals)-1]
	}
	s.level--
}

func (s *shState) restore(l shLocal) {
	now, _ := s.vars.get(l.name)
	switch {
	case l.maybe:
		s.bind(l.name, mergeBindings(now, l.before())...)
	case l.had:
		s.bind(l.name, l.old...)
	default:
		s.vars = s.vars.drop(l.name)
	}
}

// before is what the variable was outside.
func (l shLocal) before() []shBinding {
	if l.had {
		return l.old
	}
	return []shBinding{{open: true, unset: true}}
}

// keeps gives what is to be called when a variable was changed: one that was made readonly, in
// some branch or by a function that is over, may have kept its value.
func (s *shState) keeps(name string) func() {
	frozen, _ := s.frozen.get(name)
	old, had := s.vars.get(name)
	return func() {
		if frozen {
			now, _ := s.vars.get(name)
			s.bind(name, mergeBindings(shLocal{old: old, had: had}.before(), now)...)
		}
	}
}

// unset takes a variable away. That of a function around this one is seen no
// more, and what it hid is.
func (s *shState) unset(name string) {
	for i, l := range slices.Backward(s.locals) {
		if l.name != name {
			continue
		}
		if l.level < s.level || l.given {
			s.locals = slices.Delete(lists.Copy(s.locals), i, i+1)
			s.restore(l)
			return
		}
		break
	}
	s.bind(name, shBinding{unset: true})
}

// setGlobal gives the variable outside of every function a value.
func (s *shState) setGlobal(name string, v shValue) {
	for i, l := range s.locals {
		if l.name == name {
			s.locals = lists.Copy(s.locals)
			s.locals[i].old, s.locals[i].had = []shBinding{scalarBinding(v)}, true
			return
		}
	}
	s.set(name, v)
}

// joinLocals keeps what is local in either state.
func (s *shState) joinLocals(t *shState) {
	in := func(list []shLocal, l shLocal) int {
		return slices.IndexFunc(list, func(o shLocal) bool { return o.name == l.name && o.level == l.level })
	}
	for i, l := range s.locals {
		at := in(t.locals, l)
		s.locals[i].maybe = l.maybe || at < 0 || t.locals[at].maybe
		if at >= 0 && (l.had || t.locals[at].had) {
			s.locals[i].old, s.locals[i].had = mergeBindings(l.before(), t.locals[at].before()), true
		}
	}
	for _, l := range t.locals {
		if in(s.locals, l) < 0 {
			l.maybe = true
			s.locals = append(slices.Clip(s.locals), l)
		}
	}
	sort.SliceStable(s.locals, func(i, j int) bool { return s.locals[i].level < s.locals[j].level })
}

// drop takes a name out and returns the table to use from now on.
func (t *shTable[V]) drop(name string) *shTable[V] {
	if _, ok := t.get(name); !ok {
		return t
	}
	if t.shared {
		t = &shTable[V]{m: maps.Clone(t.m)}
	}
	delete(t.m, name)
	return t
}

package shell

import (
	"maps"
	"slices"
	"sort"
)

// shLocal is a variable of a function: what its name held before, which it
// holds again when the function of that level ends.
type shLocal struct {
	name  string
	level int
	old   []shBinding
	had   bool
	// maybe is true for one that is local in some branch only.
	maybe bool
}

// local makes a variable one of the function being read.
func (s *shState) local(name string) {
	if s.level == 0 || slices.ContainsFunc(s.locals, func(l shLocal) bool { return l.name == name && l.level == s.level }) {
		return
	}
	old, had := s.vars.get(name)
	s.locals = append(s.locals, shLocal{name: name, level: s.level, old: old, had: had})
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
	case l.maybe && l.had:
		s.bind(l.name, mergeBindings(now, l.old)...)
	case l.maybe:
		s.bind(l.name, mergeBindings(now, []shBinding{{open: true, unset: true}})...)
	case l.had:
		s.bind(l.name, l.old...)
	default:
		s.vars = s.vars.drop(l.name)
	}
}

// unset takes a variable away. That of a function around this one is seen no
// more, and what it hid is.
func (s *shState) unset(name string) {
	for i, l := range slices.Backward(s.locals) {
		if l.name != name {
			continue
		}
		if l.level < s.level {
			s.locals = slices.Delete(slices.Clone(s.locals), i, i+1)
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
			s.locals = slices.Clone(s.locals)
			s.locals[i].old, s.locals[i].had = []shBinding{scalarBinding(v)}, true
			return
		}
	}
	s.set(name, v)
}

// joinLocals keeps what is local in either state.
func (s *shState) joinLocals(t *shState) {
	has := func(list []shLocal, l shLocal) bool {
		return slices.ContainsFunc(list, func(o shLocal) bool { return o.name == l.name && o.level == l.level })
	}
	for i, l := range s.locals {
		s.locals[i].maybe = l.maybe || !has(t.locals, l)
	}
	for _, l := range t.locals {
		if !has(s.locals, l) {
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

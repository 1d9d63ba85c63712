package rego

import (
	"encoding/json"
	"slices"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/digits"
	"github.com/hookc/hookc/rego/native"
)

// slot is where in an event a slot of native code is found.
type slot struct {
	kind  slotKind
	field policy.Field
	keys  []string
}

type slotKind uint8

const (
	slotField slotKind = iota
	// slotAbsent is a path that no event has.
	slotAbsent
	// slotWhole is all of the input.
	slotWhole
)

// slotsOf finds the slots of paths in events, as a projection has them. alike
// says that every projection that covers the paths has them alike.
func slotsOf(paths [][]string, p *projection) (slots []slot, alike bool) {
	slots, alike = make([]slot, len(paths)), true
	for i, path := range paths {
		slots[i] = slotOf(path)
		switch s := &slots[i]; {
		case s.kind == slotWhole:
			alike = alike && p.whole
		case s.kind == slotField && !p.covers(s.field, s.keys):
			s.kind, alike = slotAbsent, false
		}
	}
	return slots, alike
}

func slotOf(path []string) slot {
	if len(path) == 0 {
		return slot{kind: slotWhole}
	}
	f, known := policy.ParseField(path[0])
	if !known || f.String() != path[0] {
		return slot{kind: slotAbsent}
	}
	return slot{field: f, keys: path[1:]}
}

// covers reports whether the input has a path when the event does.
func (p *projection) covers(f policy.Field, keys []string) bool {
	if p.whole {
		return true
	}
	for i := range p.fields {
		if p.fields[i].field == f {
			return p.fields[i].covers(keys)
		}
	}
	return false
}

func (p *projected) covers(keys []string) bool {
	if p.parts == nil {
		return true
	}
	if len(keys) == 0 {
		return false
	}
	for i := range p.parts {
		if p.parts[i].name == keys[0] {
			return p.parts[i].covers(keys[1:])
		}
	}
	return false
}

// eventInput is an event by the slots of native code.
type eventInput struct {
	event *policy.Context
	slots []slot
	// part is what of the event is the whole input.
	part *projection
	// steps is told of numbers that nobody can compute with.
	steps *stepBudget
}

// Slot is a native.Input's.
func (in *eventInput) Slot(i int) (native.Value, bool) {
	s := &in.slots[i]
	switch s.kind {
	case slotAbsent:
		return nil, false
	case slotWhole:
		if in.part.long(in.event) {
			return in.refuse()
		}
		return in.whole(), true
	}
	v, ok := in.event.Get(s.field)
	for _, key := range s.keys {
		m, object := v.(map[string]any)
		if !object {
			return in.below(s, ok && !plain(v))
		}
		v, ok = m[key]
	}
	if !ok {
		return nil, false
	}
	if _, text := v.(string); text {
		return v, true
	}
	if longIn(v) {
		return in.refuse()
	}
	return asNative(v), true
}

// refuse ends an evaluation that comes upon a number of too many digits.
func (in *eventInput) refuse() (native.Value, bool) {
	if in.steps != nil {
		in.steps.overrun(longNumber)
	}
	return nil, false
}

// long reports whether the input of an event holds a number of too many digits.
// No event that was read as JSON has one.
func (p *projection) long(c *policy.Context) bool {
	if p.whole {
		for _, f := range policy.Fields() {
			if v, ok := c.Get(f); ok && longIn(v) {
				return true
			}
		}
		return false
	}
	for i := range p.fields {
		if v, ok := c.Get(p.fields[i].field); ok && longIn(v) {
			return true
		}
	}
	return false
}

func longIn(v any) bool {
	switch x := v.(type) {
	case json.Number:
		return digits.Long(string(x))
	case []any:
		return slices.ContainsFunc(x, longIn)
	case map[string]any:
		for _, e := range x {
			if longIn(e) {
				return true
			}
		}
	}
	return false
}

// size is how much the event is, as package bounds counts it.
func (in *eventInput) size() int64 { return measure(wholeInput(in.event)).Size }

// below is a path below what is no object, where nothing is. What is no JSON
// value, which a host may have put there, is looked at as topdown sees it.
func (in *eventInput) below(s *slot, odd bool) (v native.Value, ok bool) {
	if !odd {
		return nil, false
	}
	v, ok = native.Get(in.whole(), s.field.String())
	for _, key := range s.keys {
		if ok {
			v, ok = native.Get(v, key)
		}
	}
	return v, ok
}

// whole is the input as topdown has it.
func (in *eventInput) whole() native.Value {
	if !in.part.whole {
		return toNative(in.part.value(in.event))
	}
	out := make(map[string]native.Value, 16)
	for _, f := range policy.Fields() {
		if v, ok := in.event.Get(f); ok {
			out[f.String()] = asNative(v)
		}
	}
	return out
}

// asNative is a value of an event. What is no plain JSON value, which a host
// may have put there, becomes one as it does for topdown.
func asNative(v any) native.Value {
	if plain(v) {
		return v
	}
	return toNative(toTerm(v).Value)
}

func plain(v any) bool {
	switch x := v.(type) {
	case string, nil, bool, int, float64, json.Number:
		return true
	case []any:
		for _, e := range x {
			if !plain(e) {
				return false
			}
		}
		return true
	case map[string]any:
		for _, e := range x {
			if !plain(e) {
				return false
			}
		}
		return true
	}
	return false
}

package rego

import (
	"errors"
	"sort"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/native"
)

// contribute adds what an entry point was told to a hook's result; false when
// it is of the wrong kind, or what cannot be compared: topdown says what is wrong.
func (e *nativeEntry) contribute(to *policy.Result, hook string, list []told) (ok bool) {
	if len(list) == 0 {
		return true
	}
	defer func() {
		if r := recover(); r != nil {
			if err, is := r.(error); !is || !errors.Is(err, native.ErrBail) {
				panic(r)
			}
			ok = false
		}
	}()
	switch e.part {
	case partUnallowed:
		if decided(to) {
			return true
		}
	case partPatch:
		r, err := patchOf(hook, fromNative(list[0].v))
		if err == nil {
			to.Patch, to.ToolConfig = r.Patch, r.ToolConfig
		}
		return err == nil
	case partResult:
		return e.whole(to, hook, list[0])
	}
	said, ok := e.say(list)
	if ok {
		contribute(to, hook, e.part, said)
	}
	return ok
}

// whole takes `result`.
func (e *nativeEntry) whole(to *policy.Result, hook string, t told) bool {
	fields, object := toJSON(fromNative(t.v)).(map[string]any)
	if !object {
		return false
	}
	r, err := wholeOf(fields, policy.By{Name: hook, At: e.place(t.block)})
	if err == nil {
		*to = r
	}
	return err == nil
}

// say is entry.say.
func (e *nativeEntry) say(list []told) ([]said, bool) {
	if e.many {
		if len(list) > 1 {
			sort.SliceStable(list, func(i, j int) bool { return native.Compare(list[i].v, list[j].v) < 0 })
		}
		return e.members(list, true)
	}
	at := e.place(list[0].block)
	switch v := list[0].v.(type) {
	case bool:
		if !e.part.verdict() {
			return nil, false
		}
		if !v {
			return nil, true
		}
		return []said{{at: at}}, true
	case *native.Set:
		return e.members(valuesOf(v.Elems(), list[0]), true)
	case []native.Value:
		return e.members(valuesOf(v, list[0]), false)
	}
	s, ok := sayingNative(list[0].v, at)
	return []said{s}, ok
}

// valuesOf are the elements of a value that one rule gave.
func valuesOf(elems []native.Value, by told) []told {
	out := make([]told, len(elems))
	for i, v := range elems {
		out[i] = told{by.entry, by.block, v}
	}
	return out
}

func (e *nativeEntry) members(list []told, set bool) ([]said, bool) {
	out := make([]said, 0, len(list))
	for _, t := range list {
		s, ok := sayingNative(t.v, e.place(t.block))
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return inOrder(out, set), true
}

func (e *nativeEntry) place(block int32) (at diag.Span) {
	if block >= 0 && int(block) < len(e.at) {
		at = e.at[block]
	}
	return at
}

// sayingNative is saying.
func sayingNative(v native.Value, at diag.Span) (said, bool) {
	switch x := v.(type) {
	case string:
		return said{text: x, at: at}, true
	case map[string]native.Value, *native.Object:
		for _, key := range textKeys {
			if t, ok := native.Get(x, key); ok {
				s, ok := t.(string)
				return said{text: s, at: at}, ok
			}
		}
	}
	return said{}, false
}

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
func (e *nativeEntry) contribute(to *policy.Result, hook string, list []delivered) (ok bool) {
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
	contribution, ok := e.contributes(list)
	if ok {
		contribute(to, hook, e.part, contribution)
	}
	return ok
}

// whole takes `result`.
func (e *nativeEntry) whole(to *policy.Result, hook string, t delivered) bool {
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

// contributes is that of [entry], of native values.
func (e *nativeEntry) contributes(list []delivered) ([]contribution, bool) {
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
		return []contribution{{at: at}}, true
	case *native.Set:
		return e.members(valuesOf(v.Elems(), list[0]), true)
	case []native.Value:
		return e.members(valuesOf(v, list[0]), false)
	}
	s, ok := contributingNative(list[0].v, at)
	return []contribution{s}, ok
}

// valuesOf are the elements of a value that one rule gave.
func valuesOf(elems []native.Value, by delivered) []delivered {
	out := make([]delivered, len(elems))
	for i, v := range elems {
		out[i] = delivered{by.entry, by.block, v}
	}
	return out
}

func (e *nativeEntry) members(list []delivered, set bool) ([]contribution, bool) {
	out := make([]contribution, 0, len(list))
	for _, t := range list {
		s, ok := contributingNative(t.v, e.place(t.block))
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
func contributingNative(v native.Value, at diag.Span) (contribution, bool) {
	switch x := v.(type) {
	case string:
		return contribution{text: x, at: at}, true
	case map[string]native.Value, *native.Object:
		for _, key := range textKeys {
			if t, ok := native.Get(x, key); ok {
				s, ok := t.(string)
				return contribution{text: s, at: at}, ok
			}
		}
	}
	return contribution{}, false
}

package rego

import (
	"errors"

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
	values := make([]native.Value, len(list))
	for i := range list {
		values[i] = list[i].v
	}
	texts, ok := native.Contributions(values, e.many, e.part.verdict())
	out := make([]contribution, len(texts))
	for i, c := range texts {
		out[i] = contribution{text: c.Text, at: e.place(list[c.Of].block)}
	}
	return out, ok
}

func (e *nativeEntry) place(block int32) (at diag.Span) {
	if block >= 0 && int(block) < len(e.at) {
		at = e.at[block]
	}
	return at
}

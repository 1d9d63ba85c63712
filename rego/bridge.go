package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	opabuiltins "github.com/open-policy-agent/opa/v1/topdown/builtins"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy/govalue"
	"github.com/hookc/hookc/rego/native"
)

// toNative makes a native value of a ground Rego value. Numbers keep their
// text.
func toNative(v ast.Value) native.Value {
	switch x := v.(type) {
	case ast.Null:
		return nil
	case ast.Boolean:
		return bool(x)
	case ast.String:
		return string(x)
	case ast.Number:
		return nativeNumber(x)
	case *ast.Array:
		out := make([]native.Value, 0, x.Len())
		x.Foreach(func(t *ast.Term) { out = append(out, toNative(t.Value)) })
		return out
	case ast.Set:
		out := native.NewSet()
		x.Foreach(func(t *ast.Term) { out.Add(toNative(t.Value)) })
		return out
	case ast.Object:
		return nativeObject(x)
	}
	panic(fmt.Sprintf("rego: a %s is no value", ast.ValueName(v)))
}

func nativeNumber(n ast.Number) native.Value {
	v := govalue.Number(json.Number(n))
	if text, ok := v.(json.Number); ok {
		return native.Number(text)
	}
	return v
}

func nativeObject(o ast.Object) native.Value {
	texts := make(map[string]native.Value, o.Len())
	o.Foreach(func(k, v *ast.Term) {
		if s, ok := k.Value.(ast.String); ok {
			texts[string(s)] = toNative(v.Value)
		}
	})
	if len(texts) == o.Len() {
		return texts
	}
	out := native.NewObject()
	o.Foreach(func(k, v *ast.Term) { out.Put(toNative(k.Value), toNative(v.Value)) })
	return out
}

// fromNative is the opposite of toNative.
func fromNative(v native.Value) ast.Value { return fromNativeTerm(v).Value }

func fromNativeTerm(v native.Value) *ast.Term {
	switch x := v.(type) {
	case native.Number:
		return ast.NumberTerm(json.Number(x))
	case []native.Value:
		terms := make([]*ast.Term, len(x))
		for i, e := range x {
			terms[i] = fromNativeTerm(e)
		}
		return ast.ArrayTerm(terms...)
	case *native.Set:
		terms := make([]*ast.Term, 0, x.Len())
		for _, e := range x.Elems() {
			terms = append(terms, fromNativeTerm(e))
		}
		return ast.SetTerm(terms...)
	case map[string]native.Value, *native.Object:
		pairs := make([][2]*ast.Term, 0, native.Len(x))
		native.Each(x, func(k, e native.Value) bool {
			pairs = append(pairs, [2]*ast.Term{fromNativeTerm(k), fromNativeTerm(e)})
			return true
		})
		return ast.ObjectTerm(pairs...)
	}
	return toTerm(v)
}

// bridge makes a native function of one of hookc's or of OPA's registry; nil
// when native must not call it. An error of the function bails, and topdown
// says what it is.
func bridge(name string) native.Builtin {
	if name == baseKey {
		return lookAtKey
	}
	if name == writtenKey {
		return lookAtNumbers
	}
	if unfitBuiltin(name) != "" {
		return nil
	}
	if own := functions().byFn[name]; own != nil {
		return bridgeOwn(own)
	}
	decl, f := builtinNamed(name)
	return func(c *native.Call, args []native.Value) (native.Value, bool, error) {
		terms := make([]*ast.Term, len(args))
		for i, a := range args {
			terms[i] = fromNativeTerm(a)
		}
		of := evaluationOf(c)
		of.until = stopping{}
		if c != nil {
			of.until.stop = c.Machine().Stop
		}
		var found []native.Value
		stale := false
		err := f(of.builtinContext(), terms, func(t *ast.Term) error {
			if t == nil {
				return noResult(name)
			}
			found = append(found, toNative(t.Value))
			stale = stale || !decl.Relation && isStale(t.Value, found[len(found)-1])
			return nil
		})
		switch {
		case err != nil:
			of.err = err
			return nil, false, native.ErrBail
		case stale:
			return nil, false, native.ErrBail
		case decl.Relation:
			return found, true, nil
		case len(found) == 0:
			return nil, false, nil
		case len(found) > 1:
			of.err = fault.Errorf("%s has %d results", name, len(found))
			return nil, false, native.ErrBail
		}
		return found[0], true, nil
	}
}

// isStale reports whether a value is not found in a set although it is there: some
// functions of OPA change objects in place whose hashes were taken before. What
// is made of the value again is found.
func isStale(v ast.Value, now native.Value) bool {
	switch v.(type) {
	case *ast.Array, ast.Set, ast.Object:
		return fromNative(now).Hash() != v.Hash()
	}
	return false
}

// evaluation is what OPA's functions see of the evaluation that calls them. It
// is the native.Machine's Context, and belongs to one evaluation.
type evaluation struct {
	// madeUp says that the event is, so the world is not looked at.
	madeUp bool
	// Start is the evaluation's time, now the same as Rego has it.
	start time.Time
	now   *ast.Term
	// err is the error for which a function bailed, nil when none did.
	err error
	// until says to the function under way when to stop.
	until stopping
}

// evaluationOf is the evaluation that a call belongs to. Without one the
// function runs apart from any.
func evaluationOf(c *native.Call) *evaluation {
	if c != nil {
		if e, ok := c.Machine().Context.(*evaluation); ok {
			return e
		}
	}
	return &evaluation{start: time.Now()}
}

// builtinContext is what topdown would give a function, as far as those that
// are bridged look at it.
func (e *evaluation) builtinContext() topdown.BuiltinContext {
	if e.start.IsZero() {
		e.start = time.Now()
	}
	if e.now == nil {
		e.now = ast.NumberTerm(json.Number(strconv.FormatInt(e.start.UnixNano(), 10)))
	}
	return topdown.BuiltinContext{
		Context: context.Background(), Time: e.now, Cancel: &e.until, Cache: opabuiltins.Cache{},
		Location: &ast.Location{}, Capabilities: &ast.Capabilities{AllowNet: []string{}},
	}
}

// bridgeOwn calls one of hookc's functions without a detour.
func bridgeOwn(f *builtins.Func) native.Builtin {
	return func(c *native.Call, args []native.Value) (native.Value, bool, error) {
		in := make([]any, len(f.Params))
		for i, p := range f.Params {
			in[i] = toPlain(args[i])
			if !p.Type.Holds(in[i]) {
				return nil, false, native.ErrBail
			}
		}
		out, err := callOf(f, evaluationOf(c).madeUp)(in)
		switch {
		case errors.Is(err, builtins.ErrUndefined):
			return nil, false, nil
		case err != nil:
			evaluationOf(c).err = err
			return nil, false, native.ErrBail
		}
		return fromPlain(out), true, nil
	}
}

// toPlain is a value as hookc's functions take it: a set is a sorted list, a
// key that is no string its text.
func toPlain(v native.Value) any {
	switch x := v.(type) {
	case native.Number:
		return json.Number(x)
	case *native.Set:
		return toPlain(x.Elems())
	case []native.Value:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = toPlain(e)
		}
		return out
	case map[string]native.Value, *native.Object:
		out := make(map[string]any, native.Len(x))
		native.Each(x, func(k, e native.Value) bool {
			name, ok := k.(string)
			if !ok {
				name = native.Text(k)
			}
			out[name] = toPlain(e)
			return true
		})
		return out
	}
	return v
}

// fromPlain is the opposite of toPlain, for what functions give.
func fromPlain(v any) native.Value {
	switch x := v.(type) {
	case nil, bool, string, int:
		return x
	}
	return toNative(toTerm(v).Value)
}

// stopping is a topdown.Cancel for functions that loop: they ask it as topdown
// asks its own, and it asks native's. It belongs to one evaluation.
type stopping struct {
	stop    native.Stop
	asked   uint32
	stopped bool
}

// Cancel stops the function.
func (s *stopping) Cancel() { s.stopped = true }

// Cancelled reports whether the function must stop.
func (s *stopping) Cancelled() bool {
	if s.asked++; s.asked%checkEvery == 0 && s.stop != nil && s.stop() {
		s.stopped = true
	}
	return s.stopped
}

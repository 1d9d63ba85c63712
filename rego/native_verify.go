package rego

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/native"
)

const (
	// verifyEvents bounds on how many made-up events a module is compared with
	// its code, verifyTime for how long.
	verifyEvents = 48
	verifyTime   = 20 * time.Millisecond
)

// codeDiffers is a bug of hookc that it has noticed in time.
var codeDiffers = diag.Unprovoked("Only a bug of hookc reports it, so there is no example.", diag.Code{
	ID: "HK079", Severity: diag.Warning,
	Title: "the native code of a rule differs from its Rego",
	Help: `On an event made up of the rule's own literals its native code and OPA said different
things, so OPA evaluates the hook: what it decides is right, and it takes longer. Please
report it with the rule.`,
})

// Whole reports whether topdown evaluates none of the entry points.
func (n *Native) Whole() bool { return !n.rest }

// Verify compares the module with its code on events that reach the literals of
// its rules: both sides of their tests, other types, nothing. A finding says that
// they differ: the module is then to be evaluated itself. Rules that look at the
// world or the clock are not tried.
func (n *Native) Verify(h *policy.Hook) diag.List {
	m, err := n.module()
	if err != nil || m.effects.Volatile || m.effects.World != policy.WorldNone {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), verifyTime) // a rule's own budget may be many seconds
	defer cancel()
	for _, e := range tryouts(n.code.Program(), h.Event) {
		if ctx.Err() != nil {
			break
		}
		got, gotErr := n.Run(ctx, e, 0)
		want, wantErr := m.Run(ctx, e, 0)
		if timedOut(gotErr) || timedOut(wantErr) {
			continue
		}
		if !reflect.DeepEqual(got, want) || failureText(gotErr) != failureText(wantErr) {
			return diag.List{codeDiffers.Report(h.Body.Source.Span, "native evaluation differs from OPA's; the rule is evaluated by OPA").WithHook(h.Name)}
		}
	}
	return nil
}

func timedOut(err error) bool { return err != nil && policy.KindOf(err).Late() }

func failureText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// tryouts are events for a program: one for each block of tests in which all
// of them may hold, and those in which one of them does not.
func tryouts(p *native.Program, event policy.Event) []*policy.Context {
	t := trier{p: p, event: event}
	t.add(nil, 0, nil, false)
	var blocks []map[int32][]native.Value
	for i := range p.Funcs {
		for j := range p.Funcs[i].Blocks {
			if l := t.literals(&p.Funcs[i].Blocks[j]); len(l) > 0 {
				blocks = append(blocks, l)
			}
		}
	}
	for _, b := range blocks {
		t.add(b, -1, nil, false)
	}
	for _, b := range blocks {
		for i := range p.Paths {
			if len(b[int32(i)]) == 0 {
				continue
			}
			for _, v := range otherThanLiteral(b[int32(i)][0]) {
				t.add(b, int32(i), v, true)
			}
			t.add(b, int32(i), nil, false)
		}
	}
	return t.events
}

// otherThanLiteral are values that fail where a literal holds, by their text or
// by their type.
func otherThanLiteral(v native.Value) []any {
	if s, ok := v.(string); ok {
		return []any{"x " + s + " y", "another", 7, []any{s}, map[string]any{s: s}}
	}
	return []any{"another", 7, true, 1.5}
}

// trier makes events.
type trier struct {
	p      *native.Program
	event  policy.Event
	events []*policy.Context
}

// add makes an event of literals by slot, one slot of which is another value or,
// when that is not has, absent.
func (t *trier) add(literals map[int32][]native.Value, other int32, v any, has bool) {
	if len(t.events) >= verifyEvents {
		return
	}
	fields := map[string]any{}
	for i, path := range t.p.Paths {
		if list := literals[int32(i)]; len(path) > 0 && len(list) > 0 && int32(i) != other {
			put(fields, path, toJSON(fromNative(list[0])))
		}
	}
	if has {
		put(fields, t.p.Paths[other], v)
	}
	c := policy.NewContext(t.event)
	for _, f := range policy.Fields() {
		if v, ok := fields[f.String()]; ok && f != policy.FieldEvent {
			c.Set(f, v)
		}
	}
	t.events = append(t.events, c.Frozen(t.event))
}

// put sets a value below keys, unless something else is there already.
func put(to map[string]any, keys []string, v any) {
	for _, k := range keys[:len(keys)-1] {
		if to[k] == nil {
			to[k] = map[string]any{}
		}
		inner, ok := to[k].(map[string]any)
		if !ok {
			return
		}
		to = inner
	}
	if last := keys[len(keys)-1]; to[last] == nil {
		to[last] = v
	}
}

// literals are the constants that a block's slots are tested with.
func (t *trier) literals(b *native.Block) map[int32][]native.Value {
	out := map[int32][]native.Value{}
	from := map[int32]int32{} // local → slot
	walkNative([]native.Block{*b}, func(s *native.Stmt) {
		if s.Op == native.OpInput {
			from[int32(s.Target)] = s.Index
			return
		}
		slot, found := int32(-1), []native.Value(nil)
		for _, o := range operandsOf(s) {
			if o.Const {
				found = append(found, members(t.p.Consts[o.N])...)
			} else if at, ok := from[o.N]; ok {
				slot = at
			}
		}
		if slot < 0 {
			return
		}
		out[slot] = append(out[slot], found...)
		if hasTarget(s.Op) {
			from[int32(s.Target)] = slot
		}
	})
	for slot, list := range out {
		// false is what the result of a test is compared with.
		if rest := slices.DeleteFunc(slices.Clone(list), func(v native.Value) bool { is, ok := v.(bool); return ok && !is }); len(rest) > 0 {
			out[slot] = rest
		}
	}
	return out
}

// members are the elements of a constant collection, or a constant.
func members(v native.Value) []native.Value {
	switch x := v.(type) {
	case *native.Set:
		return x.Elems()
	case []native.Value:
		return x
	case map[string]native.Value, *native.Object:
		return native.Keys(x)
	}
	return []native.Value{v}
}

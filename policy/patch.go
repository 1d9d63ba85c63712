package policy

import (
	"maps"
	"reflect"
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/govalue"
)

// Edit sets or deletes the value at one path.
type Edit struct {
	Path   Path
	Value  any
	Delete bool
	// Passing edits are seen by the hooks that follow and are no part of the
	// answer: an agent that hands on another input than it acts upon has them.
	Transient bool
}

// Patch is a change to fields: edits applied in order. Composition is
// concatenation with overwritten edits dropped, so patches are a monoid that
// acts on contexts: (σ·p)·q = σ·(p·q) (semantics.md §2.2). A whole-field edit
// replaces; a shallow merge is one edit per key. Patches are values.
type Patch struct{ edits []Edit }

// Replace is the patch that sets the value at p.
func Replace(p Path, value any) Patch { return Patch{[]Edit{{Path: p, Value: value}}} }

// Remove is the patch that deletes the value at p.
func Remove(p Path) Patch { return Patch{[]Edit{{Path: p, Delete: true}}} }

// Merge is the patch that sets each key of object inside field f and leaves
// the other keys alone.
func Merge(f Field, object map[string]any) Patch {
	var p Patch
	for _, k := range lists.Keys(object) {
		p.edits = append(p.edits, Edit{Path: Path{Field: f, Keys: []string{k}}, Value: object[k]})
	}
	return p
}

// Passing is p as a change that only the hooks that follow see.
func (p Patch) Transient() Patch {
	out := Patch{lists.Copy(p.edits)}
	for i := range out.edits {
		out.edits[i].Transient = true
	}
	return out
}

// Lasting is p without what only hooks see.
func (p Patch) Lasting() Patch {
	if !lists.Some(p.edits, func(e *Edit) bool { return e.Transient }) {
		return p
	}
	return Patch{lists.Without(p.edits, func(e *Edit) bool { return e.Transient })}
}

// Empty reports whether the patch changes nothing.
func (p Patch) Empty() bool { return len(p.edits) == 0 }

// Edits lists the edits in order. The slice must not be changed.
func (p Patch) Edits() []Edit { return p.edits }

// Then is the patch that has the effect of p followed by q.
func (p Patch) Then(q Patch) Patch {
	if len(q.edits) == 0 {
		return p
	}
	if len(p.edits) == 0 {
		return q
	}
	out := make([]Edit, 0, len(p.edits)+len(q.edits))
	for _, e := range p.edits {
		if !lists.Some(q.edits, func(l *Edit) bool { return l.overwrites(e) }) {
			out = append(out, e)
		}
	}
	return Patch{append(out, q.edits...)}
}

// overwrites reports whether nothing of an earlier edit is left after e. A
// deletion inside a field leaves the objects that the earlier edit created on
// its way.
func (e Edit) overwrites(earlier Edit) bool {
	if e.Transient && !earlier.Transient {
		return false // what it hides from hooks is still part of the answer
	}
	return e.Path.Covers(earlier.Path) && (!e.Delete || len(e.Path.Keys) == 0)
}

// Paths is the set of paths the patch touches.
func (p Patch) Paths() Paths {
	out := make([]Path, len(p.edits))
	for i, e := range p.edits {
		out[i] = e.Path
	}
	return NewPaths(out...)
}

// Within reduces the patch to the paths of w. An edit outside w is dropped; a
// replacement that is wider than a member of w becomes, for each such member,
// the value the replacement holds there, or its deletion (semantics.md §2.6,
// §2.7). The second result lists what was dropped or reduced away.
func (p Patch) Within(w Paths) (Patch, []Path) {
	var out Patch
	var dropped []Path
	for _, e := range p.edits {
		if w.Covers(e.Path) {
			out.edits = append(out.edits, e)
			continue
		}
		inner := w.Within(NewPaths(e.Path))
		for _, q := range inner.All() {
			value, ok := lookup(e.Value, q.Keys[len(e.Path.Keys):])
			out.edits = append(out.edits, Edit{Path: q, Value: value, Delete: e.Delete || !ok, Transient: e.Transient})
		}
		if inner.Empty() {
			dropped = append(dropped, e.Path)
		}
	}
	return out, dropped
}

// lookup finds the value under keys in nested objects.
func lookup(v any, keys []string) (any, bool) {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[k]; !ok {
			return nil, false
		}
	}
	return v, true
}

// assign returns root with value at keys (or without it), copying only the
// objects on the way and creating those that are missing.
func assign(root any, keys []string, value any, del bool) any {
	if len(keys) == 0 {
		if del {
			return nil
		}
		return value
	}
	old, ok := root.(map[string]any)
	if !ok && del {
		return root
	}
	m := make(map[string]any, len(old)+1)
	maps.Copy(m, old)
	k := keys[0]
	if len(keys) == 1 && del {
		delete(m, k)
		return m
	}
	if _, exists := old[k]; del && !exists {
		return root
	}
	m[k] = assign(old[k], keys[1:], value, del)
	return m
}

// SameValue reports whether two JSON values are equal. Numbers are compared
// by value, whatever Go type holds them.
func SameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !SameValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, SameValue)
	}
	if na, ok := govalue.NumberText(a); ok {
		nb, ok := govalue.NumberText(b)
		return ok && na == nb
	}
	return reflect.DeepEqual(a, b)
}

// Without is p less its edits of the fields that q changes.
func (p Patch) Without(q Patch) Patch {
	changed := func(e Edit) bool {
		return lists.Some(q.edits, func(l *Edit) bool { return l.Path.Field == e.Path.Field })
	}
	return Patch{edits: lists.DeleteFunc(lists.Copy(p.edits), changed)}
}

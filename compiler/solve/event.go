package solve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// node is a place of an event, with what is known of it.
type node struct {
	c *cell
	// kids are its members by key, elements those that only some number names.
	kids     map[string]*node
	elements []*node
	// key is what is known of the key that an element is below.
	key *cell
}

// tree is what is known of the event, by places, or of what else is computed.
func (st *state) tree(of *Term) *node {
	root := &node{}
	known := map[string]*node{of.id: root}
	var at func(t *Term) *node
	at = func(t *Term) *node {
		if n := known[t.id]; n != nil {
			return n
		}
		if t.op != isMember && t.op != isElement {
			return nil
		}
		parent := at(t.args[0])
		if parent == nil {
			return nil
		}
		n := &node{c: st.cells[t.id]}
		known[t.id] = n
		if t.op == isElement {
			parent.elements = append(parent.elements, n)
			n.key = st.cells[KeyOf(t).id]
			return n
		}
		if parent.kids == nil {
			parent.kids = map[string]*node{}
		}
		parent.kids[plain(t.value)] = n
		return n
	}
	names := make([]string, 0, len(st.cells))
	for id := range st.cells {
		names = append(names, id)
	}
	lists.Sort(names)
	for _, id := range names {
		at(st.cells[id].t)
	}
	return root
}

func plain(key any) string {
	if s, ok := key.(string); ok {
		return s
	}
	return textOf(key)
}

// needed reports whether something has to be at a place.
func (n *node) needed() bool {
	if n.c != nil && n.c.d.kinds&Absent == 0 || len(n.elements) > 0 {
		return true
	}
	for _, k := range n.kids {
		if k.needed() {
			return true
		}
	}
	return false
}

// choices are the kinds of value in the order in which they are tried.
var choices = []Kinds{String, IsTrue, Number, Object, List, SetKind, IsFalse, Null}

// value is a value for a place, the nth one; false leaves it out.
func (st *state) value(n *node, nth int) (any, bool) {
	d := everything
	if n.c != nil {
		d = n.c.d
	}
	if !n.needed() && (d.kinds&Absent != 0 && nth%2 == 0) {
		return nil, false
	}
	if len(n.kids)+len(n.elements) > 0 && d.kinds&composite != 0 && d.only == nil {
		return st.composed(n, d, nth), true
	}
	if d.only != nil && d.kinds&^composite&^Absent == 0 {
		return jsonOf(d.only[nth%len(d.only)]), true
	}
	var able []Kinds
	for _, k := range choices {
		if d.kinds&k != 0 {
			able = append(able, k)
		}
	}
	if len(able) == 0 {
		return nil, false
	}
	switch able[nth/2%len(able)] {
	case String:
		return st.text(n.c, d, nth), true
	case Number:
		return pick(d.num, nth/2), true
	case IsTrue:
		return true, true
	case IsFalse:
		return false, true
	case Null:
		return nil, true
	case Object:
		out := map[string]any{}
		for i := range st.lengthened(n, nil) {
			out[fmt.Sprintf("k%d", i)] = "x"
		}
		return out, true
	}
	return st.lengthened(n, []any{}), true
}

// lengthened is a list that is as long as it has to be.
//
//go:noinline
func (st *state) lengthened(n *node, list []any) []any {
	var like any = map[string]any{"role": "user", "content": "x"}
	if len(list) > 0 {
		like = list[0]
	}
	if n.c != nil {
		for len(list) < min(st.long[n.c.t.id], mostLong) {
			list = append(list, like)
		}
	}
	return list
}

// mostLong bounds the lists that are made for their length.
const mostLong = 20000

func (st *state) text(c *cell, d domain, nth int) string {
	if d.text == nil {
		return "x"
	}
	if c != nil {
		if least := st.long[c.t.id]; least > 0 {
			return strings.Repeat("x", least)
		}
	}
	examples := d.text.Examples(nth + 1)
	if len(examples) == 0 {
		return "x"
	}
	if nth >= len(examples) { // An element is asked for odd ones alone.
		nth = nth / 2 % len(examples)
	}
	return examples[nth]
}

func jsonOf(v any) any {
	if s, ok := v.(Set); ok {
		return []any(s)
	}
	return v
}

// composed is an object or a list of the parts of a place.
func (st *state) composed(n *node, d domain, nth int) any {
	byKey := d.kinds&List == 0
	for key := range n.kids {
		byKey = byKey || strings.Trim(key, "0123456789") != ""
	}
	for _, e := range n.elements {
		byKey = byKey || e.key != nil && e.key.d.kinds&^Absent == String
	}
	if byKey && d.kinds&Object != 0 {
		out := map[string]any{}
		for key, kid := range n.kids {
			if v, ok := st.value(kid, nth); ok {
				out[key] = v
			}
		}
		for i, e := range n.elements {
			key := fmt.Sprintf("k%d", i)
			if e.key != nil && e.key.d.text != nil {
				key = st.text(e.key, e.key.d, nth)
			}
			if v, ok := st.value(e, nth|1); ok {
				out[key] = v
			}
		}
		return out
	}
	var out []any
	for i := range 50 {
		kid := n.kids[fmt.Sprint(i)]
		if kid == nil {
			break
		}
		v, _ := st.value(kid, nth|1)
		out = append(out, v)
	}
	for i, e := range n.elements {
		which := nth | 1
		if e.c != nil && e.c.d.kinds&^Absent == String { // Other ones: a set has each once.
			which += 2 * i
		}
		if v, ok := st.value(e, which); ok {
			out = append(out, v)
		}
	}
	if out == nil {
		out = []any{}
	}
	return st.lengthened(n, out)
}

// event is the nth event of what is known, as an agent sends it; nil where there is
// none.
func (st *state) event(nth int) map[string]any {
	root := st.tree(Input)
	out := map[string]any{}
	if st.s.w.Open {
		doc, _ := st.composed(root, ofKinds(Object), nth).(map[string]any)
		return doc
	}
	spec := st.s.w.Event.Spec()
	derived := map[policy.Field]any{}
	for name, kid := range root.kids {
		f, known := policy.ParseField(name)
		if !known || f == policy.FieldToolKind || f == policy.FieldEvent {
			continue
		}
		v, there := st.value(kid, nth)
		switch {
		case f == policy.FieldShell:
			if line := commandOf(v, nth/2); kid.needed() && (derived[policy.FieldCommand] == nil || nth%2 == 0) {
				derived[policy.FieldCommand] = line
			}
		case !there:
		case f.Derived():
			if f != policy.FieldCommand || derived[f] == nil || nth%2 == 1 {
				derived[f] = v
			}
		default:
			out[name] = v
		}
	}
	out["event"] = string(st.s.w.Event)
	if spec == nil || !spec.CanRead(policy.FieldToolName) {
		return out
	}
	tool, ok := st.tool(nth)
	if !ok {
		return nil
	}
	out["tool_name"] = tool
	args, isObject := out["tool_input"].(map[string]any)
	if !isObject {
		args = map[string]any{}
		out["tool_input"] = args
	}
	for f, v := range derived {
		if part := toolcall.FindPart(f); part != nil {
			if key := part.Keys[0]; args[key] == nil || nth > 1 {
				args[key] = v
			}
		}
	}
	for _, f := range []policy.Field{policy.FieldCwd, policy.FieldProjectRoot} {
		if out[f.String()] == nil {
			out[f.String()] = "/repo"
		}
	}
	return out
}

// tool is the nth tool that a call may be of.
func (st *state) tool(nth int) (string, bool) {
	c := st.cell(field(policy.FieldToolName))
	if c.d.kinds&String == 0 {
		return "", false
	}
	if c.d.text == nil {
		return "Bash", true
	}
	var names []string
	for _, k := range kindsOfTools[:7] {
		names = append(names, lists.DeleteFunc(toolcall.OfKind(k), func(n string) bool { return !c.d.text.Has(n) })...)
	}
	if len(names) == 0 {
		names = c.d.text.Examples(1 + nth)
	}
	if len(names) == 0 {
		return "", false
	}
	first := slices.Index(names, "Bash")
	return names[(max(first, 0)+nth)%len(names)], true
}

// Package tree reads YAML, JSON and TOML into one tree whose every value knows where it
// was written. It is the only reader of YAML.
package tree

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Shape is what a node of a tree is.
type Shape uint8

// The shapes.
const (
	Scalar Shape = iota
	List
	Map
)

// The tags of scalars, as YAML writes them.
const (
	TagText  = "!!str"
	TagInt   = "!!int"
	tagFloat = "!!float"
	tagBool  = "!!bool"
	TagNull  = "!!null"
	tagTime  = "!!timestamp"
	tagMerge = "!!merge"
)

// Node is one value of a YAML or JSON file and where it was written. Trees
// are immutable; an alias and its anchor share one Node, so a tree is finite
// but may be met twice.
type Node struct {
	Shape Shape
	// Tag is the short YAML tag of a scalar: !!str, !!int, !!float, !!bool,
	// !!null or !!timestamp.
	Tag string
	// Text is the value of a scalar as it was written, escapes and folding
	// undone, every byte with its own place.
	Text diag.Text
	Span diag.Span
	// Entries are those of a map in the order written, each key once; Items
	// those of a list.
	Entries []Entry
	Items   []*Node
}

// Entry is one key of a map with its value.
type Entry struct{ Key, Value *Node }

// Get returns the value of a key, or nil.
//
//go:noinline
func (n *Node) Get(key string) *Node {
	for _, e := range n.Entries {
		if e.Key.Text.Value == key {
			return e.Value
		}
	}
	return nil
}

// IsNull reports whether the node is an empty value or null.
//
//go:noinline
func (n *Node) IsNull() bool { return n.Shape == Scalar && n.Tag == TagNull }

// IsText reports whether the node is a string.
//
//go:noinline
func (n *Node) IsText() bool {
	return n.Shape == Scalar && (n.Tag == TagText || n.Tag == tagTime)
}

// What names the node for a message.
//
//go:noinline
func (n *Node) What() string {
	switch {
	case n.Shape == List:
		return "a list"
	case n.Shape == Map:
		return "a map"
	case n.Tag == TagNull:
		return "empty"
	case n.Tag == tagBool:
		return "a boolean"
	case n.Tag == TagInt || n.Tag == tagFloat:
		return "a number"
	}
	return "text"
}

// Rewrite is the tree with each text, but for keys, as change returns it. A text that
// changes maps as a whole to where it was written.
func (n *Node) Rewrite(change func(diag.Text) string) *Node {
	out := *n
	if n.IsText() {
		if text := change(n.Text); text != n.Text.Value {
			out.Text = diag.NewText(text, n.Text.Span, nil)
		}
	}
	out.Items = make([]*Node, len(n.Items))
	for i, item := range n.Items {
		out.Items[i] = item.Rewrite(change)
	}
	out.Entries = make([]Entry, len(n.Entries))
	for i, e := range n.Entries {
		out.Entries[i] = Entry{e.Key, e.Value.Rewrite(change)}
	}
	return &out
}

// Bool returns the value of a boolean.
//
//go:noinline
func (n *Node) Bool() (value, ok bool) {
	if n.Shape != Scalar || n.Tag != tagBool {
		return false, false
	}
	return strings.EqualFold(n.Text.Value, "true"), true
}

// Int returns the value of a whole number that fits an int.
func (n *Node) Int() (int, bool) {
	if n.Shape != Scalar || n.Tag != TagInt {
		return 0, false
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(n.Text.Value, "_", ""), 0, strconv.IntSize)
	return int(i), err == nil
}

// Float returns the value of a finite number.
func (n *Node) Float() (float64, bool) {
	if i, ok := n.Int(); ok {
		return float64(i), true
	}
	if n.Shape != Scalar || n.Tag != tagFloat && n.Tag != TagInt {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Text.Value, "_", ""), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// Value is the node as a JSON value: nil, bool, int, float64, json.Number,
// string, []any or map[string]any. A number that JSON cannot write is its
// text.
func (n *Node) Value() any {
	switch n.Shape {
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Value()
		}
		return out
	case Map:
		out := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			out[e.Key.Text.Value] = e.Value.Value()
		}
		return out
	}
	switch n.Tag {
	case TagNull:
		return nil
	case tagBool:
		b, _ := n.Bool()
		return b
	case TagInt, tagFloat:
		return n.number()
	}
	return n.Text.Value
}

func (n *Node) number() any {
	if v, err := policy.DecodeJSON([]byte(n.Text.Value)); err == nil {
		switch v.(type) {
		case int, float64, json.Number:
			return v
		}
	}
	if i, ok := n.Int(); ok {
		return i
	}
	if f, ok := n.Float(); ok {
		return f
	}
	return n.Text.Value
}

// checkKeys reports keys of a map that are written twice and returns the
// entries with the first of each.
func checkKeys(entries []Entry) ([]Entry, diag.List) {
	first := make(map[string]*Node, len(entries))
	out := entries[:0:len(entries)]
	var found diag.List
	for _, e := range entries {
		name := e.Key.Text.Value
		if old := first[name]; old != nil {
			line, col := old.Span.Position()
			found.Add(codeDuplicateKey.Report(e.Key.Span, "key %q is written twice; first at %d:%d", name, line, col).
				WithHint("keep one of the two"))
			continue
		}
		first[name] = e.Key
		out = append(out, e)
	}
	return out, found
}

var codeDuplicateKey = diag.Define("HK003", diag.Error, "key written twice")

package native

import (
	"slices"
	"sort"

	"github.com/hookc/hookc/internal/lists"
)

// Contribution is one thing that an entry point of a hook says: a text, "" of a
// verdict without one, and which of the values said it.
type Contribution struct {
	Text string
	Of   int
}

// TextKeys are the keys of an object that hold its text: hookc's and conftest's.
var TextKeys = [...]string{"reason", "msg"}

// Contributions are what the values of an entry point say: one value, or with many
// the members of a set. Those of a set are in the order of their texts, those of a
// list in their own. ok is false for a value of the wrong kind; true and false are of
// the right one where the entry point gives a verdict. It panics with an error that
// is ErrBail for what cannot be compared.
func Contributions(values []Value, many, verdict bool) (out []Contribution, ok bool) {
	of := make([]int, len(values))
	for i := range of {
		of[i] = i
	}
	members, set := values, many
	if many {
		slices.SortStableFunc(of, func(i, j int) int { return Compare(values[i], values[j]) })
	} else {
		members = values[:1]
		switch v := values[0].(type) {
		case bool:
			if !verdict || !v {
				return nil, verdict
			}
			return []Contribution{{}}, true
		case *Set:
			members, set = v.Elems(), true
		case []Value:
			members = v
		}
	}
	out = make([]Contribution, 0, len(members))
	for i, v := range members {
		c := Contribution{}
		if many {
			c.Of, v = of[i], values[of[i]]
		}
		if c.Text, ok = textOf(v); !ok {
			return nil, false
		}
		out = append(out, c)
	}
	if set {
		sort.SliceStable(out, func(i, j int) bool { return out[i].Text < out[j].Text })
	}
	return lists.CompactFunc(out, func(a, b Contribution) bool { return a.Text == b.Text }), true
}

// textOf is the text of a string, or of an object that has one.
func textOf(v Value) (string, bool) {
	if isObject(v) {
		for _, key := range TextKeys {
			if t, found := Get(v, key); found {
				s, ok := t.(string)
				return s, ok
			}
		}
	}
	s, ok := v.(string)
	return s, ok
}

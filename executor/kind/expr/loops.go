package expr

import (
	"reflect"
	"sort"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// looper is one function of expr that evaluates a body for the elements of a
// list.
type looper struct {
	run func(f *frame, l *loop, items []any) any
	// test is true when the answer is true, false or undefined.
	test bool
}

// loop is one use of a looper.
type loop struct {
	name string
	// slot is the loop's scope in the frame, at its place in the text.
	slot, at int
	// body may be nil where the element itself is meant; extra is the third
	// argument.
	body, extra evalFunc
}

var loops map[string]looper

func init() {
	loops = map[string]looper{
		"any": {loopAny, true}, "all": {loopAll, true}, "none": {loopNone, true}, "one": {loopOne, true},
		"filter": {loopFilter, false}, "map": {loopMap, false}, "count": {loopCount, false}, "sum": {loopSum, false},
		"find":      {func(f *frame, l *loop, items []any) any { return l.find(f, items, false, false) }, false},
		"findIndex": {func(f *frame, l *loop, items []any) any { return l.find(f, items, false, true) }, false},
		"findLast":  {func(f *frame, l *loop, items []any) any { return l.find(f, items, true, false) }, false},
		"findLastIndex": {func(f *frame, l *loop, items []any) any {
			return l.find(f, items, true, true)
		}, false},
		"groupBy": {loopGroupBy, false}, "sortBy": {loopSortBy, false}, "reduce": {loopReduce, false},
	}
}

func (c *compiler) loop(n *ast.BuiltinNode, lr looper) term {
	list := constantList(c.term(n.Arguments[0]))
	l := &loop{name: n.Name, slot: c.loops, at: place(n)}
	if len(n.Arguments) > 1 {
		c.loops++
		c.scopes = max(c.scopes, c.loops)
		l.body = c.term(n.Arguments[1].(*ast.PredicateNode).Node).eval
		c.loops--
	}
	if len(n.Arguments) > 2 {
		l.extra = c.term(n.Arguments[2]).eval
	}
	return term{test: lr.test, eval: func(f *frame) any {
		v := list.eval(f)
		if isUndefined(v) {
			return v
		}
		f.at = l.at
		return lr.run(f, l, f.list(v, l.name))
	}}
}

// constantList makes a constant list one whose elements need no conversion.
func constantList(t term) term {
	r := reflect.ValueOf(t.value)
	if !t.constant || !r.IsValid() || r.Kind() != reflect.Slice {
		return t
	}
	items := make([]any, r.Len())
	for i := range items {
		items[i] = r.Index(i).Interface()
	}
	return constant(items)
}

// value is the body for one element.
func (l *loop) value(f *frame, i int, item any) any {
	f.tick()
	if l.body == nil {
		return item
	}
	s := &f.scopes[l.slot]
	s.item, s.index = item, i
	return l.body(f)
}

// holds is the body for one element as a test; an undefined one does not hold.
func (l *loop) holds(f *frame, i int, item any) bool {
	v := l.value(f, i, item)
	return !isUndefined(v) && f.truth(l.at, v)
}

func loopAny(f *frame, l *loop, items []any) any {
	return l.settle(f, items, true)
}

func loopAll(f *frame, l *loop, items []any) any {
	return l.settle(f, items, false)
}

// settle is `or` (settled by true) or `and` (settled by false) over the
// elements, three-valued.
func (l *loop) settle(f *frame, items []any, settles bool) any {
	var out any = !settles
	for i, item := range items {
		v := l.value(f, i, item)
		switch {
		case isUndefined(v):
			out = undefined
		case f.truth(l.at, v) == settles:
			return settles
		}
	}
	return out
}

func loopNone(f *frame, l *loop, items []any) any {
	for i, item := range items {
		if l.holds(f, i, item) {
			return false
		}
	}
	return true
}

func loopOne(f *frame, l *loop, items []any) any { return l.count(f, items) == 1 }

func loopCount(f *frame, l *loop, items []any) any { return l.count(f, items) }

func (l *loop) count(f *frame, items []any) int {
	n := 0
	for i, item := range items {
		if l.holds(f, i, item) {
			n++
		}
	}
	return n
}

func loopFilter(f *frame, l *loop, items []any) any {
	out := []any{}
	for i, item := range items {
		if l.holds(f, i, item) {
			f.grow(wordSize)
			out = append(out, item)
		}
	}
	return out
}

func loopMap(f *frame, l *loop, items []any) any {
	f.grow(len(items) * wordSize)
	out := make([]any, 0, len(items))
	for i, item := range items {
		if v := l.value(f, i, item); !isUndefined(v) {
			out = append(out, v)
		}
	}
	return out
}

func loopSum(f *frame, l *loop, items []any) any {
	var sum any = 0
	for i, item := range items {
		v := l.value(f, i, item)
		if isUndefined(v) {
			continue
		}
		f.at = l.at
		sum = plus(f, v, sum)
	}
	return sum
}

// find is the first element (or the last) for which the body holds, or its
// index; undefined when there is none.
func (l *loop) find(f *frame, items []any, last, wantIndex bool) any {
	for k := range items {
		i := k
		if last {
			i = len(items) - 1 - k
		}
		if !l.holds(f, i, items[i]) {
			continue
		}
		if wantIndex {
			return i
		}
		return items[i]
	}
	return undefined
}

func loopGroupBy(f *frame, l *loop, items []any) any {
	out := map[any][]any{}
	for i, item := range items {
		key := l.value(f, i, item)
		if isUndefined(key) {
			continue
		}
		f.at = l.at
		f.grow(2 * wordSize)
		out[key] = append(out[key], item)
	}
	return out
}

// loopSortBy orders the elements by the body's values; with an undefined one
// there is no order.
func loopSortBy(f *frame, l *loop, items []any) any {
	order := any("asc")
	if l.extra != nil {
		if order = l.extra(f); isUndefined(order) {
			return order
		}
	}
	if order != "asc" && order != "desc" {
		f.fail(l.at, `sortBy orders "asc" or "desc", not %v`, order)
	}
	f.grow(len(items) * 2 * wordSize)
	by := &runtime.SortBy{Desc: order == "desc", Array: make([]any, 0, len(items)), Values: make([]any, 0, len(items))}
	for i, item := range items {
		v := l.value(f, i, item)
		if isUndefined(v) {
			return v
		}
		by.Array = append(by.Array, item)
		by.Values = append(by.Values, number(v))
	}
	f.at = l.at
	sort.Sort(by)
	return by.Array
}

func loopReduce(f *frame, l *loop, items []any) any {
	var acc any
	from := 0
	switch {
	case l.extra != nil:
		if acc = l.extra(f); isUndefined(acc) {
			return acc
		}
	case len(items) == 0:
		f.fail(l.at, "reduce of an empty list needs an initial value")
	default:
		acc, from = items[0], 1
	}
	for i := from; i < len(items); i++ {
		f.scopes[l.slot].acc = acc
		if acc = l.value(f, i, items[i]); isUndefined(acc) {
			return acc
		}
	}
	return acc
}

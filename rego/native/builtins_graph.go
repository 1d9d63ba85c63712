package native

var graphBuiltins = []own{
	{"walk", 1, func() Builtin { return walk }},
	{"graph.reachable", 2, func() Builtin { return reachable }},
}

// walk gives all its results at once, as pairs of a path and what is there: a
// value before what is in it, in order.
func walk(c *Call, args []Value) (Value, bool, error) {
	w := walker{call: c}
	w.visit([]Value{}, args[0])
	return w.out, true, nil
}

type walker struct {
	call *Call
	out  []Value
}

func (w *walker) visit(path []Value, v Value) {
	w.call.Step(1)
	w.out = append(w.out, []Value{path, v})
	Each(v, func(k, e Value) bool {
		inner := make([]Value, len(path)+1)
		copy(inner, path)
		inner[len(path)] = k
		w.visit(inner, e)
		return true
	})
}

// reachable are the nodes of a graph, an object of edges, that are reached
// from some.
func reachable(c *Call, args []Value) (Value, bool, error) {
	queue, ok := argList(args[1])
	if !ok || !isObject(args[0]) {
		return bail()
	}
	reached := NewSet()
	queue = queue[:len(queue):len(queue)]
	for ; len(queue) > 0; queue = queue[1:] {
		c.Step(1)
		edges, ok := Get(args[0], queue[0])
		if !ok {
			continue
		}
		neighbours, _ := argList(edges)
		for _, n := range neighbours {
			if !reached.Has(n) {
				queue = append(queue, n)
			}
		}
		reached.Add(queue[0])
	}
	return reached, true, nil
}

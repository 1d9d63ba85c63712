package native

var graphBuiltins = []own{
	{"walk", 1, func() Builtin { return walk }},
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

package native

import "math"

// version begins every written program; another is another format.
const version = 2

// The kinds of values as they are written.
const (
	tagNull = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagNumber
	tagString
	tagArray
	tagMap
	tagObject
	tagSet
)

// Append writes a program behind b: compact, the same bytes for the same
// program. What a statement's Op does not use is left out.
func (p *Program) Append(b []byte) []byte {
	w := writer{append(b, version)}
	w.list(len(p.Consts), func(i int) { w.value(p.Consts[i]) })
	w.list(len(p.Paths), func(i int) { w.path(p.Paths[i]) })
	w.texts(p.Builtins)
	w.list(len(p.Funcs), func(i int) { w.function(&p.Funcs[i]) })
	w.list(len(p.Places), func(i int) {
		w.number(int64(p.Places[i].File))
		w.number(int64(p.Places[i].Row))
		w.number(int64(p.Places[i].Col))
	})
	w.texts(p.Files)
	w.value(p.Data)
	return w.b
}

type writer struct{ b []byte }

func (w *writer) count(v uint64) {
	for v >= 0x80 {
		w.b = append(w.b, byte(v)|0x80)
		v >>= 7
	}
	w.b = append(w.b, byte(v))
}

func (w *writer) number(v int64) { w.count(uint64(v)<<1 ^ uint64(v>>63)) }

func (w *writer) text(s string) {
	w.count(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) list(n int, each func(i int)) {
	w.count(uint64(n))
	for i := range n {
		each(i)
	}
}

func (w *writer) texts(list []string) {
	w.list(len(list), func(i int) { w.text(list[i]) })
}

// path tells the whole input, nil, from an empty path.
func (w *writer) path(path []string) {
	if path == nil {
		w.count(0)
		return
	}
	w.count(uint64(len(path)) + 1)
	for _, s := range path {
		w.text(s)
	}
}

func (w *writer) function(fn *Func) {
	w.text(fn.Name)
	w.texts(fn.Path)
	w.number(int64(fn.Params))
	w.number(int64(fn.Locals))
	w.number(int64(fn.Return))
	memo := uint64(0)
	if fn.Memo {
		memo = 1
	}
	w.count(memo)
	w.blocks(fn.Blocks)
}

func (w *writer) blocks(list []Block) {
	w.list(len(list), func(i int) {
		w.number(int64(list[i].Place))
		w.list(len(list[i].Stmts), func(j int) { w.stmt(&list[i].Stmts[j]) })
	})
}

func (w *writer) stmt(s *Stmt) {
	shape := &shapes[s.Op]
	w.count(uint64(s.Op))
	w.number(int64(s.Place))
	if shape.a {
		w.operand(s.A)
	}
	if shape.b || s.Op == OpScan {
		w.operand(s.B)
	}
	if shape.target || s.Op == OpWith {
		w.number(int64(s.Target))
	}
	if shape.index {
		w.number(int64(s.Index))
	}
	if shape.args {
		w.list(len(s.Args), func(i int) { w.operand(s.Args[i]) })
	}
	if shape.keys {
		w.list(len(s.Keys), func(i int) { w.operand(s.Keys[i]) })
	}
	if shape.blocks != 0 {
		w.blocks(s.Blocks)
	}
}

func (w *writer) operand(o Operand) {
	n := int64(o.N) << 1
	if o.Const {
		n |= 1
	}
	w.number(n)
}

func (w *writer) value(v Value) {
	switch x := v.(type) {
	case nil:
		w.b = append(w.b, tagNull)
	case bool:
		tag := byte(tagFalse)
		if x {
			tag = tagTrue
		}
		w.b = append(w.b, tag)
	case int:
		w.b = append(w.b, tagInt)
		w.number(int64(x))
	case float64:
		w.b = append(w.b, tagFloat)
		for bits, i := math.Float64bits(x), 0; i < 8; i++ {
			w.b = append(w.b, byte(bits>>(8*i)))
		}
	case string:
		w.b = append(w.b, tagString)
		w.text(x)
	case []Value:
		w.b = append(w.b, tagArray)
		w.list(len(x), func(i int) { w.value(x[i]) })
	case map[string]Value:
		w.b = append(w.b, tagMap)
		keys := sortedKeys(x)
		w.list(len(keys), func(i int) {
			w.text(keys[i])
			w.value(x[keys[i]])
		})
	case *Object:
		w.b = append(w.b, tagObject)
		pairs := pairsOf(x)
		w.list(len(pairs), func(i int) {
			w.value(pairs[i].key)
			w.value(pairs[i].value)
		})
	case *Set:
		w.b = append(w.b, tagSet)
		elems := x.Elems()
		w.list(len(elems), func(i int) { w.value(elems[i]) })
	default:
		w.b = append(w.b, tagNumber)
		w.text(numberText(x))
	}
}

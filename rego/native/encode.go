package native

import "github.com/hookc/hookc/internal/binary"

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
	w := writer{binary.Writer{B: append(b, version)}}
	w.list(len(p.Consts), func(i int) { w.value(p.Consts[i]) })
	w.list(len(p.Paths), func(i int) { w.path(p.Paths[i]) })
	w.texts(p.Builtins)
	w.list(len(p.Funcs), func(i int) { w.function(&p.Funcs[i]) })
	w.list(len(p.Places), func(i int) {
		w.Int(int64(p.Places[i].File))
		w.Int(int64(p.Places[i].Row))
		w.Int(int64(p.Places[i].Col))
	})
	w.texts(p.Files)
	w.value(p.Data)
	return w.B
}

type writer struct{ binary.Writer }

//go:noinline
func (w *writer) list(n int, each func(i int)) {
	w.Uint(uint64(n))
	for i := range n {
		each(i)
	}
}

//go:noinline
func (w *writer) texts(list []string) {
	w.list(len(list), func(i int) { w.Text(list[i]) })
}

// path tells the whole input, nil, from an empty path.
func (w *writer) path(path []string) {
	if path == nil {
		w.Uint(0)
		return
	}
	w.Uint(uint64(len(path)) + 1)
	for _, s := range path {
		w.Text(s)
	}
}

func (w *writer) function(fn *Func) {
	w.Text(fn.Name)
	w.texts(fn.Path)
	w.Int(int64(fn.Params))
	w.Int(int64(fn.Locals))
	w.Int(int64(fn.Return))
	w.Bool(fn.Memo)
	w.blocks(fn.Blocks)
}

func (w *writer) blocks(list []Block) {
	w.list(len(list), func(i int) {
		w.Int(int64(list[i].Place))
		w.list(len(list[i].Stmts), func(j int) { w.stmt(&list[i].Stmts[j]) })
	})
}

func (w *writer) stmt(s *Stmt) {
	shape := &shapes[s.Op]
	w.Uint(uint64(s.Op))
	w.Int(int64(s.Place))
	if shape.a {
		w.operand(s.A)
	}
	if shape.b || s.Op == OpScan {
		w.operand(s.B)
	}
	if shape.target || s.Op == OpWith {
		w.Int(int64(s.Target))
	}
	if shape.index {
		w.Int(int64(s.Index))
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

//go:noinline
func (w *writer) operand(o Operand) {
	n := int64(o.N) << 1
	if o.Const {
		n |= 1
	}
	w.Int(n)
}

func (w *writer) value(v Value) {
	switch x := v.(type) {
	case nil:
		w.Byte(tagNull)
	case bool:
		if x {
			w.Byte(tagTrue)
		} else {
			w.Byte(tagFalse)
		}
	case int:
		w.Byte(tagInt)
		w.Int(int64(x))
	case float64:
		w.Byte(tagFloat)
		w.Float(x)
	case string:
		w.Byte(tagString)
		w.Text(x)
	case []Value:
		w.Byte(tagArray)
		w.list(len(x), func(i int) { w.value(x[i]) })
	case map[string]Value:
		w.Byte(tagMap)
		keys := sortedKeys(x)
		w.list(len(keys), func(i int) {
			w.Text(keys[i])
			w.value(x[keys[i]])
		})
	case *Object:
		w.Byte(tagObject)
		pairs := pairsOf(x)
		w.list(len(pairs), func(i int) {
			w.value(pairs[i].key)
			w.value(pairs[i].value)
		})
	case *Set:
		w.Byte(tagSet)
		elems := x.Elems()
		w.list(len(elems), func(i int) { w.value(elems[i]) })
	default:
		w.Byte(tagNumber)
		w.Text(numberText(x))
	}
}

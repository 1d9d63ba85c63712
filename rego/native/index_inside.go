package native

// negation reads a block that is no condition itself but lets those behind it
// be some, when nothing in it may fail.
func (r *leader) negation(s *Stmt) int {
	r.depth++
	read := r.inside(&s.Blocks[0], func() bool { return r.statements(s.Blocks[0].Stmts) })
	r.depth--
	if !read {
		return 0
	}
	return 1
}

// inside reads a block after which only what it does not write is known as it
// was.
func (r *leader) inside(b *Block, read func() bool) bool {
	from := r.from
	r.from = make(map[int32]held, len(from))
	for local, h := range from {
		r.from[local] = h
	}
	all := read()
	r.from = from
	written := newBits(r.fn.Locals)
	writes(b, written)
	for local := range from {
		if written.has(Local(local)) {
			delete(from, local)
		}
	}
	return all
}

// scan reads an iteration. When nothing follows it, what is in it are
// conditions: where they hold for no element, the block does nothing.
func (r *leader) scan(list []Stmt) int {
	s := &list[0]
	key, element := Local(s.B.N), s.Target
	source, known := r.holds(s.A)
	if !known {
		return 0 // a set as it is written may be astray
	}
	last := len(list) == 1
	if !last {
		r.depth++
	}
	r.loops++
	read := r.inside(&s.Blocks[0], func() bool {
		keys := held{}
		elements, parts := r.parts(source, known)
		constant := len(source.constants) == 1
		if constant {
			keys.constants, elements.constants = elementsOf(source.constants[0])
		}
		return r.set(key, keys, constant) == 1 && r.set(element, elements, constant || parts) == 1 && r.statements(s.Blocks[0].Stmts)
	})
	r.loops--
	if !last {
		r.depth--
	}
	if !read {
		return 0
	}
	return 1
}

// elementsOf are the keys of a constant and what is there; never nil.
func elementsOf(v Value) (keys, elements []Value) {
	keys, elements = []Value{}, []Value{}
	switch v.(type) {
	case []Value, map[string]Value, *Object, *Set:
		Each(v, func(key, e Value) bool {
			keys, elements = append(keys, key), append(elements, e)
			return true
		})
	}
	return keys, elements
}

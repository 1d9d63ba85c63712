package native

// memory is the results of functions that take nothing but input and data.
// What a with statement changes begins a generation, in which nothing is known
// but what it computes; afterwards what was known before is known again.
type memory struct {
	results     []result
	known       []int32 // functions whose results hold values
	generation  uint64
	generations uint64
	nested      int
	undo        []undone
}

// result is one function's: of another generation, it is none.
type result struct {
	generation uint64
	v          Value
}

type undone struct {
	fn  int32
	old result
}

func (m *memory) recall(fn int32) (Value, bool) {
	r := &m.results[fn]
	return r.v, r.generation == m.generation
}

func (m *memory) keep(fn int32, v Value) {
	if m.nested > 0 {
		m.undo = append(m.undo, undone{fn, m.results[fn]})
	}
	m.results[fn] = result{m.generation, v}
	m.known = append(m.known, fn)
}

// push begins a generation and tells what pop needs to end it.
func (m *memory) push() (generation uint64, mark int) {
	generation, mark = m.generation, len(m.undo)
	m.nested++
	m.generations++
	m.generation = m.generations
	return generation, mark
}

func (m *memory) pop(generation uint64, mark int) {
	for i := len(m.undo) - 1; i >= mark; i-- {
		m.results[m.undo[i].fn] = m.undo[i].old
	}
	clear(m.undo[mark:])
	m.undo = m.undo[:mark]
	m.generation = generation
	m.nested--
}

func (m *memory) forget() {
	for _, fn := range m.known {
		m.results[fn].v = nil
	}
	m.known = m.known[:0]
	m.nested = 0
	clear(m.undo)
	m.undo = m.undo[:0]
	if cap(m.known) > kept || cap(m.undo) > kept {
		m.known, m.undo = nil, nil
	}
}

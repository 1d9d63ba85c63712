package native

import "slices"

// codeIndex is the index of a Code: one over the blocks of all functions that
// take nothing but input and data, so that an event is looked through once, and
// one for each function of arguments that has many blocks.
type codeIndex struct {
	*index
	// idle says that nothing is found by it.
	idle bool
	// first is each function's first item in the index of all; -1 if there is none.
	first []int32
	own   []*index
}

// breakEven is after how many evaluations without it an index has been worth
// making: making it takes a rule about as long as evaluating it so often.
const breakEven = 64

// Index makes the code's index, if that is worth it, and gives the Code back:
// what an evaluation costs is then what it finds, and not how many rules there
// are. It changes nothing else. It is safe to call while others evaluate, who
// have the index from their next evaluation on.
func (c *Code) Index() *Code {
	if !c.many() {
		c.index.Store(&unindexed)
		return c
	}
	x := &codeIndex{first: make([]int32, len(c.funcs)), own: make([]*index, len(c.funcs))}
	d := &derivation{}
	shared := newReading(d, nil)
	var all []lead
	found := 0
	for i, fn := range c.funcs {
		x.first[i] = -1
		if fn.Params > 2 {
			x.own[i] = c.ownIndex(fn)
			continue
		}
		leads := leadsOf(c, fn, shared)
		if n := findable(leads); n >= several {
			x.first[i] = int32(len(all))
			all, found = append(all, leads...), found+n
		}
	}
	if found < worthwhile {
		for i := range x.first {
			x.first[i] = -1
		}
		all = nil
	}
	x.index = newIndex(all, d)
	x.idle = all == nil && !slices.ContainsFunc(x.own, func(own *index) bool { return own != nil })
	c.index.Store(x)
	return c
}

// unindexed is the index of a code of few rules.
var unindexed = codeIndex{idle: true}

// many reports whether there are so many rules that an index may be worth it: a
// function has two blocks besides.
func (c *Code) many() bool {
	rules := 0
	for _, fn := range c.funcs {
		if n := len(fn.Blocks); fn.Params == 2 {
			rules += max(n-2, 0)
		} else if n >= worthwhile {
			return true
		}
	}
	return rules >= worthwhile
}

// ownIndex is the index of a function with arguments, nil if there is none.
func (c *Code) ownIndex(fn *function) *index {
	if len(fn.Blocks) < worthwhile {
		return nil
	}
	d := &derivation{}
	leads := leadsOf(c, fn, newReading(d, nil))
	if findable(leads) < worthwhile {
		return nil
	}
	return newIndex(leads, d)
}

// leadsOf are the leads of a function's blocks.
func leadsOf(c *Code, fn *function, shared *reading) []lead {
	r := newLeader(c, fn, shared)
	leads := make([]lead, len(fn.Blocks))
	for i := range fn.Blocks {
		leads[i] = r.read(&fn.Blocks[i])
	}
	return leads
}

// findable is how many leads have a condition.
func findable(leads []lead) int {
	n := 0
	for i := range leads {
		if len(leads[i].keys) > 0 {
			n++
		}
	}
	return n
}

// Findable tells of each block of a function whether an index finds it by what
// fields of an event hold: the others are evaluated for every event that has
// the fields they read.
func (c *Code) Findable(fn int) []bool {
	leads := leadsOf(c, c.funcs[fn], newReading(&derivation{}, nil))
	out := make([]bool, len(leads))
	for i := range leads {
		out[i] = leads[i].strong()
	}
	return out
}

// search takes the code's index for an evaluation, or counts one without it.
func (m *Machine) search(c *Code) {
	m.index = c.index.Load()
	switch {
	case m.index == nil && c.evaluated.Add(1) == breakEven:
		m.due = append(m.due, c)
	case m.index != nil && m.index.idle:
		m.index = nil
	}
}

// Learn makes the indexes that evaluations have shown to be worth it. It takes
// a while, and is called when what they answered has been given.
func (m *Machine) Learn() {
	for i, c := range m.due {
		c.Index()
		m.due[i] = nil
	}
	m.due = m.due[:0]
}

// region is what an index found for a generation: items of m.found.
type region struct {
	generation uint64
	from, to   int
}

// found is where in m.found the blocks begin that are to be run of a function,
// what is to be taken from each, and whether there is an index at all. The
// caller gives done what it got.
func (fn *function) found(f *frame) (r region, first int32, ok bool) {
	m := f.m
	x := m.index
	if x == nil {
		return region{}, 0, false
	}
	if own := x.own[fn.id]; own != nil {
		from := len(m.found)
		m.found = own.find(f, &m.marks, m.found)
		return region{from: from, to: len(m.found)}, 0, true
	}
	if first = x.first[fn.id]; first < 0 {
		return region{}, 0, false
	}
	if m.region.generation != m.generation {
		from := len(m.found)
		m.found = x.find(f, &m.marks, m.found)
		m.region = region{m.generation, from, len(m.found)}
	}
	r = m.region
	r.from = m.after(r, first)
	r.to = m.after(r, first+int32(len(fn.Blocks)))
	return r, first, true
}

// after is where in a region the items from one on begin.
func (m *Machine) after(r region, item int32) int {
	low, high := r.from, r.to
	for low < high {
		if mid := int(uint(low+high) >> 1); m.found[mid] < item {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// mark is what m.found and the region were before a function looked.
type mark struct {
	region region
	length int
}

func (m *Machine) mark() mark { return mark{m.region, len(m.found)} }

// back forgets what was found since. What was found for the event itself stays
// for others to use, but for what was found for arguments.
func (m *Machine) back(k mark) {
	if m.region.generation == m.generation && m.nested == 0 {
		m.found = m.found[:max(k.length, m.region.to)]
		return
	}
	m.region, m.found = k.region, m.found[:k.length]
}

// runFound runs those blocks of a function that its index finds.
func (fn *function) runFound(f *frame) (s status, indexed bool) {
	m := f.m
	k := m.mark()
	r, first, ok := fn.found(f)
	if !ok {
		return done, false
	}
	for at := r.from; at < r.to; at++ {
		s = fn.blocks[m.found[at]-first](f)
		if m.trace(int(m.found[at]), s); s < 0 {
			break
		}
		s = done
	}
	m.back(k)
	return s, true
}

// found runs the blocks that the function's index finds.
func (t *teller) found(f *frame) (indexed bool, err error) {
	m := f.m
	k := m.mark()
	r, first, ok := t.fn.found(f)
	if !ok {
		return false, nil
	}
	defer m.back(k)
	for at := r.from; at < r.to; at++ {
		if on, err := t.block(int(m.found[at]-first), f); err != nil || !on {
			return true, err
		}
	}
	return true, nil
}

package directed

// Of many rules that are alike, which differ in constants only, all are evaluated by
// topdown on the events directed at the first mostWhole of them, while those are not
// more than wholeRules evaluations of a rule, on one in oneWhole of the others, and of
// very many events on allWhole of them: all rules on all events would be their square.
// On the rest of the events those are evaluated that are not among them or are one of
// the first, mostBeside of all shapes together but one of each, that the event is
// directed at, and that native code says something by. Each rule has its own events still.
const (
	mostWhole  = 2
	wholeRules = 200000
	mostBeside = 32
	eachBeside = 8
	oneWhole   = 32
	allWhole   = 16
)

// Aim is what an event is directed at: a block of a function, the Nth of its shape.
type Aim struct{ Fn, Block, Nth int }

// Spare says which blocks of a function need not be evaluated on each event.
type Spare struct {
	t  *Tries
	fn int
	// beside is how many blocks of a shape are evaluated on each event.
	beside int
	// callers are the blocks that call each other function, directly or not.
	callers map[int][]int
	// whole has all evaluated on one event of so many, and left on so many more.
	whole, left int
}

// Spare is nil for a function with few blocks that are alike.
func (t *Tries) Spare(fn int) *Spare {
	nth := t.nth[fn]
	if fn < 0 || len(nth) <= 2*MostAlike {
		return nil
	}
	s := &Spare{t: t, fn: fn, callers: map[int][]int{}, whole: max(oneWhole, len(t.Events)/allWhole), left: wholeRules / len(nth)}
	shapes := 0
	for j, n := range nth {
		shapes += 1 / n
		for _, to := range callees(t.p, t.p.Funcs[fn].Blocks[j:j+1]) {
			s.callers[to] = append(s.callers[to], j)
		}
	}
	s.beside = min(max(mostBeside/shapes, 1), eachBeside)
	return s
}

// Alike reports whether a block need not be evaluated on each event.
func (s *Spare) Alike(block int) bool { return s.t.nth[s.fn][block] > s.beside }

// Aimed are the blocks that an event is directed at; all is true where every one is to
// be evaluated.
//
//go:noinline
func (s *Spare) Aimed(event int) (blocks []int, all bool) {
	aim := s.t.aims[event]
	blocks = s.callers[aim.Fn]
	if aim.Fn == s.fn {
		blocks = []int{aim.Block}
	}
	switch {
	case event%s.whole == 0:
		return nil, true
	case s.left > 0 && (aim.Nth <= mostWhole || blocks == nil):
		s.left--
		return nil, true
	}
	return blocks[:min(len(blocks), mostBeside)], false
}

package native

import "strings"

// literals finds which of many literals a text holds, in one pass: each
// literal is entered under the rarest of its grams (its runs of up to four
// bytes), a bitmap tells for nearly every place of the text that no gram ends
// there, and where one does the literal is compared. Unlike in an Aho-Corasick
// automaton no step waits for the one before, and there are no states to
// build and keep; what an automaton has on a text made to defeat it is had here
// by giving up: then all are found, and each block looks for itself.
type literals struct {
	// texts are the literals, lower case in a folding set; items are what each
	// finds, all what any does.
	texts []string
	items [][]int32
	all   []int32
	fold  bool
	// levels are by length of gram; none for a few literals, each of which is
	// looked for on its own.
	levels []level
}

// level holds the literals entered under grams of one length.
type level struct {
	mask    uint32
	size    int // bytes of a gram
	shift   uint8
	present []uint64 // a bit for each hash
	starts  []int32  // where the entries of 1 << spread hashes begin
	entries []entry
}

// entry is a literal under a gram that ends at byte end of it.
type entry struct {
	gram    uint32
	literal int32
	end     int32
}

const (
	gram = 4
	// alone is up to how many literals are looked for one by one.
	alone = 6
	// spread is how many bits fewer there are for entries than for presence.
	spread = 3
	// patience is how many comparisons a byte of text, and a text, may cost.
	patience, allowance = 4, 4096
)

// newLiterals is nil when there are none.
func newLiterals(texts []string, items [][]int32, fold bool) *literals {
	if len(texts) == 0 {
		return nil
	}
	n := &literals{texts: texts, items: items, fold: fold}
	for _, list := range items {
		n.all = append(n.all, list...)
	}
	if len(texts) <= alone && !fold {
		return n
	}
	var sizes [gram + 1][]int32
	for i, text := range texts {
		q := min(len(text), gram)
		sizes[q] = append(sizes[q], int32(i))
	}
	for q, list := range sizes {
		if len(list) > 0 {
			n.levels = append(n.levels, newLevel(texts, list, q))
		}
	}
	return n
}

func newLevel(texts []string, list []int32, q int) level {
	l := level{mask: uint32(1<<(8*q) - 1), size: q, shift: 32 - 8}
	for l.shift > 32-20 && 1<<(32-l.shift) < 16*len(list) {
		l.shift--
	}
	count := make([]int32, 1<<(32-l.shift))
	for _, i := range list {
		for _, h := range l.hashes(texts[i]) {
			count[h]++
		}
	}
	l.present = make([]uint64, (len(count)+63)/64)
	l.starts = make([]int32, len(count)>>spread+1)
	chosen := make([]entry, len(list))
	for j, i := range list {
		e := l.rarest(texts[i], count)
		e.literal = i
		h := l.hash(e.gram)
		l.present[h>>6] |= 1 << (h & 63)
		l.starts[h>>spread]++
		chosen[j] = e
	}
	sum := int32(0)
	for b := range l.starts {
		sum += l.starts[b]
		l.starts[b] = sum
	}
	l.entries = make([]entry, len(list))
	for j := len(chosen) - 1; j >= 0; j-- {
		b := l.hash(chosen[j].gram) >> spread
		l.starts[b]--
		l.entries[l.starts[b]] = chosen[j]
	}
	return l
}

func (l *level) hash(gram uint32) uint32 { return (gram * 0x9e3779b1) >> l.shift }

// grams yields each gram of a text with the byte it ends before.
func (l *level) grams(text string, yield func(gram uint32, end int)) {
	v := uint32(0)
	for i := range len(text) {
		v = v<<8 | uint32(text[i])
		if i+1 >= l.size {
			yield(v&l.mask, i+1)
		}
	}
}

func (l *level) hashes(text string) []uint32 {
	var out []uint32
	l.grams(text, func(gram uint32, _ int) { out = append(out, l.hash(gram)) })
	return out
}

// rarest is a literal under that of its grams which the fewest share; of
// several the last, as literals that begin alike are many.
func (l *level) rarest(text string, count []int32) entry {
	var best entry
	least := int32(-1)
	l.grams(text, func(gram uint32, end int) {
		if c := count[l.hash(gram)]; least < 0 || c <= least {
			best, least = entry{gram: gram, end: int32(end)}, c
		}
	})
	return best
}

// longS and kelvin are the two letters beyond ASCII that are some of its letters
// in other case. They are spelled out: an editor may turn the kelvin sign into K.
const longS, kelvin = "\u017f", "\u212a"

// find marks the items of the literals that text holds. There may be none
// to find: n is nil.
func (n *literals) find(text string, k *marks) {
	switch {
	case n == nil:
	case n.levels == nil:
		for i, literal := range n.texts {
			if strings.Contains(text, literal) {
				k.all(n.items[i])
			}
		}
	case n.fold && (strings.Contains(text, longS) || strings.Contains(text, kelvin)):
		k.all(n.all)
	default:
		budget := patience*len(text) + allowance
		for i := range n.levels {
			budget = n.levels[i].find(n, text, k, budget)
			if budget < 0 {
				k.all(n.all)
				return
			}
		}
	}
}

// find marks what is found under one length of gram, and tells how many more
// comparisons there may be.
func (l *level) find(n *literals, text string, k *marks, budget int) int {
	if n.fold {
		return l.findFolded(n, text, k, budget)
	}
	v, mask, shift, present := uint32(0), l.mask, l.shift&31, l.present
	for i := range len(text) {
		v = v<<8 | uint32(text[i])
		h := (v & mask * 0x9e3779b1) >> shift
		if present[h>>6]&(1<<(h&63)) != 0 {
			if budget = l.compare(n, text, i+1, v&mask, k, budget); budget < 0 {
				return budget
			}
		}
	}
	return budget
}

func (l *level) findFolded(n *literals, text string, k *marks, budget int) int {
	v, mask, shift, present := uint32(0), l.mask, l.shift&31, l.present
	for i := range len(text) {
		v = v<<8 | uint32(lower(text[i]))
		h := (v & mask * 0x9e3779b1) >> shift
		if present[h>>6]&(1<<(h&63)) != 0 {
			if budget = l.compare(n, text, i+1, v&mask, k, budget); budget < 0 {
				return budget
			}
		}
	}
	return budget
}

// compare looks at the literals under a gram that ends before byte end.
func (l *level) compare(n *literals, text string, end int, gram uint32, k *marks, budget int) int {
	b := l.hash(gram) >> spread
	for _, e := range l.entries[l.starts[b]:l.starts[b+1]] {
		budget--
		if e.gram != gram {
			continue
		}
		literal := n.texts[e.literal]
		from := end - int(e.end)
		if from < 0 || from+len(literal) > len(text) {
			continue
		}
		if part := text[from : from+len(literal)]; part == literal || n.fold && foldsTo(part, literal) {
			k.all(n.items[e.literal])
		}
	}
	return budget
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c + 'a' - 'A'
	}
	return c
}

// foldsTo reports whether text is literal, which is lower case, in ASCII of
// any case.
func foldsTo(text, literal string) bool {
	for i := range len(text) {
		if lower(text[i]) != literal[i] {
			return false
		}
	}
	return true
}

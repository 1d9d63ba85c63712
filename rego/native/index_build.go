package native

import (
	"math"
	"slices"

	"github.com/hookc/hookc/internal/lists"
)

const (
	// worthwhile is how many blocks must be findable for an index to pay.
	worthwhile = 6
	// several is how many of a function's it takes for them to count: what a
	// helper of a rule or two looks at is not looked at before it is called.
	several = 3
	// handful is up to how many blocks that share a value are not looked for
	// by what strings hold.
	handful = 4
	// widest is how many values one condition may be found by: the test of
	// more is left to the block, lest rules times values be entered.
	widest = 256
)

// newIndex makes an index of items by their leads, of which d has the subjects.
func newIndex(leads []lead, d *derivation) *index {
	b := builder{
		x: &index{size: len(leads), steps: d.steps}, known: make(map[handle]int32, len(leads)),
		fields: map[subject]*building{}, searched: map[subject][]*lead{}, looked: map[subject][]look{},
	}
	for i := range leads {
		for j := range leads[i].keys {
			for _, h := range leads[i].keys[j].any {
				b.ids = append(b.ids, b.number(h))
			}
		}
	}
	ids := b.ids
	for i := range leads {
		ids = b.enter(int32(i), &leads[i], ids)
	}
	for i, items := range b.found {
		if len(items) > 0 {
			b.put(&b.handles[i], items)
		}
	}
	for on, d := range b.fields {
		d.gate = newGate(b.searched[on])
		if on >= firstDerived {
			d.door = newDoor(b.looked[on])
		}
	}
	for _, on := range lists.Keys(b.fields) {
		d := b.fields[on]
		d.finish()
		b.x.fields = append(b.x.fields, d.field)
	}
	return b.x
}

// builder makes one index.
type builder struct {
	x *index
	// known numbers the handles; ids are those of all keys one after the
	// other. shared counts the keys that have one, found are the items it finds.
	known   map[handle]int32
	ids     []int32
	handles []handle
	shared  []int32
	found   [][]int32
	fields  map[subject]*building
	// searched are the items found by what a subject's strings hold.
	searched map[subject][]*lead
	// looked are the items that a subject made of another is made for.
	looked map[subject][]look
}

// look is where in a lead a subject is first looked at.
type look struct {
	lead  *lead
	place int32
}

// building is a field and what its strings are looked through for, by kind.
type building struct {
	field
	texts [byEnding + 1][]string
	items [byEnding + 1][][]int32
}

func (d *building) finish() {
	d.within = newLiterals(d.texts[byContaining], d.items[byContaining], false)
	d.folded = newLiterals(d.texts[byFolded], d.items[byFolded], true)
	d.starts = newAffixes(d.texts[byStarting], d.items[byStarting], false)
	d.ends = newAffixes(d.texts[byEnding], d.items[byEnding], true)
}

func (b *builder) number(h handle) int32 {
	n, ok := b.known[h]
	if !ok {
		n = int32(len(b.handles))
		b.known[h] = n
		b.handles = append(b.handles, h)
		b.shared = append(b.shared, 0)
		b.found = append(b.found, nil)
	}
	b.shared[n]++
	return n
}

func (b *builder) field(on subject) *building {
	d := b.fields[on]
	if d == nil {
		d = &building{field: field{on: on}}
		b.fields[on] = d
	}
	return d
}

// enter puts an item under the key that finds the fewest others: rather under
// a value than under what strings hold, which takes a pass over them, and only
// if there is no other under what all events of a tool have. ids are those of
// its keys' handles and what follows, which it gives back.
func (b *builder) enter(item int32, l *lead, ids []int32) []int32 {
	var best *key
	var chosen []int32
	var least, until int32
	for i := range l.keys {
		k := &l.keys[i]
		sharing := int32(1)
		for _, id := range ids[:len(k.any)] {
			sharing = max(sharing, b.shared[id])
		}
		switch {
		case k.equality:
			until = max(until, k.before)
			if sharing <= handful {
				sharing = 0
			}
		case k.weak:
			sharing += int32(b.x.size)
		}
		if best == nil || sharing < least {
			best, least, chosen = k, sharing, ids[:len(k.any)]
		}
		ids = ids[len(k.any):]
	}
	if best == nil {
		b.x.always = append(b.x.always, item)
		return ids
	}
	for _, id := range chosen {
		b.found[id] = enlist(b.found[id], item)
	}
	for _, g := range l.guards[:max(best.before, until)] {
		d := b.field(g.on)
		d.unless[g.kind] = enlist(d.unless[g.kind], item)
		b.look(l, g.on, g.place)
	}
	for _, h := range best.any {
		if h.kind <= byFolded {
			b.searched[h.on] = enlist(b.searched[h.on], l)
		}
		b.look(l, h.on, best.place)
	}
	return ids
}

// look notes where a lead looks at a subject.
func (b *builder) look(l *lead, on subject, place int32) {
	if on < firstDerived {
		return
	}
	list := b.looked[on]
	if last := len(list) - 1; last >= 0 && list[last].lead == l {
		list[last].place = min(list[last].place, place)
		return
	}
	b.looked[on] = append(list, look{l, place})
}

func enlist[T comparable](list []T, item T) []T {
	if n := len(list); n > 0 && list[n-1] == item {
		return list
	}
	return append(list, item)
}

// put enters what a handle finds.
func (b *builder) put(h *handle, items []int32) {
	d := b.field(h.on)
	switch h.kind {
	case byText:
		if d.field.texts == nil {
			d.field.texts = map[string][]int32{}
		}
		d.field.texts[h.text] = items
	case byNumber:
		if d.numbers == nil {
			d.numbers = map[float64][]int32{}
		}
		d.numbers[h.bits] = items
	case byNull:
		d.null = items
	case byFalse, byTrue:
		d.bools[h.kind-byFalse] = items
	case byPresence:
		d.present = items
	default:
		d.texts[h.kind] = append(d.texts[h.kind], h.text)
		d.items[h.kind] = append(d.items[h.kind], items)
	}
}

// newGate is the first subject that all of these items compare with texts, nil
// when there is none.
func newGate(leads []*lead) *gate {
	if len(leads) == 0 {
		return nil
	}
	for i := range leads[0].keys {
		if k := &leads[0].keys[i]; k.equality {
			if g := gateOn(k.on, leads); g != nil {
				return g
			}
		}
	}
	return nil
}

func gateOn(on subject, leads []*lead) *gate {
	g := &gate{on: on, texts: map[string]bool{}}
	for _, l := range leads {
		if !g.let(l, math.MaxInt32) {
			return nil
		}
	}
	return g
}

// let opens a gate for a lead, if that has a condition before a place that it
// can mean.
func (g *gate) let(l *lead, before int32) bool {
	at := slices.IndexFunc(l.keys, func(k key) bool { return k.equality && k.on == g.on && k.place < before })
	if at < 0 {
		return false
	}
	for i := range l.keys[at].any {
		g.texts[l.keys[at].any[i].text] = true
	}
	return true
}

// newDoor is the first slot that all of these compare with texts before they
// look at a subject, which then need not be made for other events.
func newDoor(looks []look) *gate {
	first := looks[0]
	for i := range first.lead.keys {
		k := &first.lead.keys[i]
		if !k.equality || k.on >= firstDerived {
			continue
		}
		g := &gate{on: k.on, texts: map[string]bool{}}
		if !slices.ContainsFunc(looks, func(o look) bool { return !g.let(o.lead, o.place) }) {
			return g
		}
	}
	return nil
}

package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// fewer is how many of so many programs are tried: all, but under the race
// detector.
func fewer(seeds uint64) uint64 {
	if unpooled > 0 {
		return seeds / 10
	}
	return seeds
}

// TestIndexShapesChangeNothing: as TestIndexChangesNothing, of rules as they are
// written.
func TestIndexShapesChangeNothing(t *testing.T) {
	count := map[string]int{}
	for seed := range fewer(500) {
		r := rand.New(rand.NewPCG(seed, 17))
		m := shapedProgram(r)
		plain, indexed := m.linkAll(t), m.linkAll(t).Index()
		c := &chance{maker: m, Rand: r}
		var p, x Machine
		for range 30 {
			c.calm = r.IntN(4) > 0
			event := c.event()
			for _, fn := range []int{0, len(m.Funcs) - 3, len(m.Funcs) - 2, len(m.Funcs) - 1} {
				want := outcome(&p, plain, fn, event)
				require.Equal(t, want, outcome(&x, indexed, fn, event), "seed %d, function %d, event %#v", seed, fn, event)
				require.Equal(t, delivered(&p, plain, fn, event), delivered(&x, indexed, fn, event), "seed %d, function %d, event %#v", seed, fn, event)
				count[want]++
			}
		}
		for fn := len(m.Funcs) - 3; fn < len(m.Funcs); fn++ {
			for _, findable := range indexed.Findable(fn) {
				count[fmt.Sprint(findable)]++
			}
		}
	}
	require.Greater(t, count["true"], int(fewer(5000)), "rules that an index finds")
	require.Greater(t, count["bail"], int(fewer(1000)))
	require.Greater(t, len(count), 50, "answers differ")
}

// TestIndexShapesFused: the same of many programs at once.
func TestIndexShapesFused(t *testing.T) {
	for seed := range fewer(60) {
		r := rand.New(rand.NewPCG(seed, 19))
		var members []Member
		for range 5 {
			m := shapedProgram(r)
			n := len(m.Funcs)
			members = append(members, Member{m.linkAll(t), []int{n - 1, n - 3}})
		}
		f := NewFused(members)
		c := &chance{maker: &maker{}, Rand: r}
		var m FusedMachine
		var alone Machine
		for range 30 {
			c.calm = r.IntN(4) > 0
			event := c.event()
			said := map[[2]int]Answer{}
			failed := map[int]bool{}
			for _, a := range f.Eval(&m, newPaths(f.Paths(), event), nil) {
				said[[2]int{a.Member, a.Entry}] = a
				failed[a.Member] = failed[a.Member] || a.Bailed
			}
			for i, member := range members {
				bails := false
				for j, fn := range member.Entries {
					want := outcome(&alone, member.Code, fn, event)
					bails = bails || want == "bail"
					a, ok := said[[2]int{i, j}]
					if failed[i] {
						continue
					}
					if !ok {
						a.Value, a.Defined = f.Quiet(i, j)
					}
					require.Equal(t, want, outcomeOf(a), "seed %d, member %d, entry %d, event %#v", seed, i, j, event)
				}
				require.Equal(t, bails, failed[i])
			}
		}
	}
}

func outcomeOf(a Answer) string { return said(a.Value, a.Defined, a.Bailed) }

// TestIndexShapesWouldFail: the comparison notices when the index leaves out
// what it must find.
func TestIndexShapesWouldFail(t *testing.T) {
	noticed, tried := 0, 0
	for seed := range fewer(400) {
		r := rand.New(rand.NewPCG(seed, 23))
		m := shapedProgram(r)
		plain, indexed := m.linkAll(t), m.linkAll(t).Index()
		x := indexed.index.Load()
		if x.idle {
			continue
		}
		fn := len(m.Funcs) - 1
		item := x.first[fn] + 1 + int32(r.IntN(len(m.Funcs[fn].Blocks)-2))
		x.drop(item)
		c := &chance{maker: m, Rand: r, calm: true}
		var p, y Machine
		tried++
		for range 200 {
			event := c.event()
			if delivered(&p, plain, fn, event) != delivered(&y, indexed, fn, event) {
				noticed++
				break
			}
		}
	}
	require.Greater(t, tried, int(fewer(200)))
	require.Greater(t, noticed*3, tried, "of %d", tried)
}

// drop takes an item out of everything that finds it.
func (x *index) drop(item int32) {
	without := func(list []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(list), func(i int32) bool { return i == item })
	}
	x.always = without(x.always)
	for i := range x.fields {
		d := &x.fields[i]
		d.present, d.null = without(d.present), without(d.null)
		for text := range d.texts {
			d.texts[text] = without(d.texts[text])
		}
		for n := range d.numbers {
			d.numbers[n] = without(d.numbers[n])
		}
		for b := range d.bools {
			d.bools[b] = without(d.bools[b])
		}
		for kind := range d.unless {
			d.unless[kind] = without(d.unless[kind])
		}
		for _, n := range []*literals{d.within, d.folded} {
			for j := range n.lists() {
				n.items[j] = without(n.items[j])
			}
		}
		for _, a := range []*affixes{d.starts, d.ends} {
			if a != nil {
				for j := range a.items {
					a.items[j] = without(a.items[j])
				}
			}
		}
	}
}

// lists are what each literal finds.
func (n *literals) lists() [][]int32 {
	if n == nil {
		return nil
	}
	return n.items
}

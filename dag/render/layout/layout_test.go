package layout

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/dag"
)

// Whatever the graph: boxes do not overlap, lie within the picture and to the
// right of what they wait for, and arrows lead from left to right. In a narrow
// picture right is below.
func TestLayout(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 400 {
		down := i%2 == 1
		boxes := make([]Box, 1+rnd.IntN(30))
		for i := range boxes {
			boxes[i] = Box{W: 20 + float64(rnd.IntN(200)), H: 20 + float64(rnd.IntN(60))}
			if rnd.IntN(3) == 0 {
				boxes[i].Group = fmt.Sprint("g", rnd.IntN(3))
			}
		}
		var links []Link
		for to := range boxes {
			for from := range to {
				if rnd.IntN(6) == 0 {
					links = append(links, Link{From: from, To: to, Frames: rnd.IntN(4) == 0, Hidden: rnd.IntN(5) == 0})
				}
			}
		}
		laidOut(t, boxes, links, down)
	}
}

func laidOut(t *testing.T, boxes []Box, links []Link, down bool) {
	frames, w, h := Place(boxes, links, map[string]float64{"g1": 300}, down)
	for i, a := range boxes {
		assert.True(t, a.X >= -1e-6 && a.Y >= -1e-6 && a.X+a.W <= w+1e-6 && a.Y+a.H <= h+1e-6, "box %d is inside", i)
		for j, b := range boxes[:i] {
			assert.True(t, apart(a.X, a.Y, a.W, a.H, b), "boxes %d and %d", i, j)
		}
	}
	split := false
	titles := map[string]bool{}
	for _, f := range frames {
		split = split || titles[f.Group]
		titles[f.Group] = true
		if f.Group == "g1" {
			assert.GreaterOrEqual(t, f.W, 300.0)
		}
		for i, b := range boxes {
			if b.Group == f.Group && b.Rank == f.Rank {
				assert.True(t, b.X >= f.X && b.Y >= f.Y+frameLabel && b.X+b.W <= f.X+f.W && b.Y+b.H <= f.Y+f.H, "box %d is in its frame", i)
			} else {
				assert.True(t, apart(f.X, f.Y, f.W, f.H, b), "box %d is not in the frame of %s", i, f.Group)
			}
		}
	}
	for _, k := range links {
		from, to := boxes[k.From], boxes[k.To]
		if from.Group != "" && from.Group == to.Group && !split {
			assert.Equal(t, from.Rank, to.Rank, "one group, one frame")
			continue
		}
		if down {
			assert.Less(t, from.Y+from.H, to.Y)
		} else {
			assert.Less(t, from.X+from.W, to.X)
		}
		assert.Equal(t, k.Hidden, len(k.Points) == 0)
		clear(t, boxes, frames, k)
	}
}

func apart(x, y, w, h float64, b Box) bool {
	return x+w <= b.X+1e-6 || b.X+b.W <= x+1e-6 || y+h <= b.Y+1e-6 || b.Y+b.H <= y+1e-6
}

// clear: an arrow goes from left to right, or down, its straight parts cross no box but
// those at its ends, and no title of a frame.
func clear(t *testing.T, boxes []Box, frames []Frame, k Link) {
	for i := 1; i < len(k.Points); i++ {
		p, q := k.Points[i-1], k.Points[i]
		if k.Down {
			assert.LessOrEqual(t, p.Y, q.Y)
		} else {
			assert.LessOrEqual(t, p.X, q.X)
		}
		if i%2 == 0 {
			continue
		}
		if k.Down {
			assert.InDelta(t, p.X, q.X, 1e-6)
		} else {
			assert.InDelta(t, p.Y, q.Y, 1e-6)
		}
		crosses := func(x, y, w, h float64) bool {
			return max(p.X, q.X) > x+1e-6 && min(p.X, q.X) < x+w-1e-6 && max(p.Y, q.Y) > y+1e-6 && min(p.Y, q.Y) < y+h-1e-6
		}
		for at, b := range boxes {
			assert.False(t, at != k.From && at != k.To && crosses(b.X, b.Y, b.W, b.H), "an arrow crosses box %d", at)
		}
		for _, f := range frames {
			assert.False(t, crosses(f.X, f.Y, f.W, frameLabel), "an arrow crosses the title of %s", f.Group)
		}
	}
}

// TestRanks: the nodes may be in any order, and a circle is found.
func TestRanks(t *testing.T) {
	ranks, ok := Ranks(4, []dag.Edge{{From: 3, To: 2}, {From: 2, To: 0}, {From: 3, To: 0}, {From: 1, To: 1}})
	assert.Equal(t, []int{2, 0, 1, 0}, ranks)
	assert.True(t, ok)
	_, ok = Ranks(3, []dag.Edge{{From: 0, To: 1}, {From: 1, To: 0}})
	assert.False(t, ok)
}

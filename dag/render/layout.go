package render

import (
	"math"
	"slices"

	"github.com/hookc/hookc/dag"
)

// The layered layout of the svg and html renderers, left to right: the rank of
// a box is the length of the longest path to it, the order within a rank
// comes from barycentres, long arrows are led through the ranks between.

// box is a thing to place. Boxes of one rank and one group stand together in
// a frame.
type box struct {
	w, h  float64
	group string
	// x, y is the top left corner, set by layout.
	x, y float64
	rank int
}

// link is an arrow between boxes; from is before to. Points is the way of the
// arrow: where it leaves, the ends of each passage through a rank, where it
// arrives. A link of frames begins and ends at the frames around its boxes, a
// hidden one sets ranks and is not drawn.
type link struct {
	from, to       int
	frames, hidden bool
	points         []point
}

type point struct{ x, y float64 }

// frame is the border around the boxes of a group in one rank.
type frame struct {
	group      string
	x, y, w, h float64
	rank       int
}

const (
	boxGap     = 14.0 // between boxes of a rank
	rankGap    = 56.0 // between ranks, where arrows bend
	framePad   = 10.0
	frameLabel = 16.0
	lane       = 10.0 // the height of an arrow passing through a rank
	gridRows   = 8    // boxes of a group above each other before a new column
)

// block is what moves as one within a rank: the boxes of a group, one box, or
// a passing arrow.
type block struct {
	boxes  []int
	group  string
	w, h   float64
	y      float64
	center float64 // where neighbours would like it
	links  int     // neighbours counted
}

// layered is a layout under construction.
type layered struct {
	boxes []box
	links []link
	ranks [][]*block
	// of is the block of each box; lanes those of each link by rank.
	of    []*block
	lanes []map[int]*block
	left  []float64 // of each rank
	width []float64
}

// layout places boxes and leads links; it returns the frames of the groups
// and the size of the whole. Links lead from lower to higher box numbers.
func layout(boxes []box, links []link) (frames []frame, w, h float64) {
	l := &layered{boxes: boxes, links: links, of: make([]*block, len(boxes)), lanes: make([]map[int]*block, len(links))}
	l.rank()
	l.build()
	l.order()
	l.columns()
	l.rows()
	return l.finish()
}

func (l *layered) rank() {
	edges := make([]dag.Edge, len(l.links))
	for i, k := range l.links {
		edges[i] = dag.Edge{From: k.from, To: k.to}
	}
	last := 0
	for i, r := range dag.NewGraph(len(l.boxes), edges).Ranks() {
		l.boxes[i].rank = r
		last = max(last, r)
	}
	l.ranks = make([][]*block, last+1)
}

// build makes the blocks of each rank in the order of the boxes.
func (l *layered) build() {
	for i := range l.boxes {
		b := &l.boxes[i]
		var home *block
		for _, other := range l.ranks[b.rank] {
			if b.group != "" && other.group == b.group {
				home = other
			}
		}
		if home == nil {
			home = &block{group: b.group}
			l.ranks[b.rank] = append(l.ranks[b.rank], home)
		}
		home.boxes = append(home.boxes, i)
		l.of[i] = home
	}
	for i, k := range l.links {
		l.lanes[i] = map[int]*block{}
		if k.hidden {
			continue
		}
		for r := l.boxes[k.from].rank + 1; r < l.boxes[k.to].rank; r++ {
			passing := &block{h: lane}
			l.lanes[i][r] = passing
			l.ranks[r] = append(l.ranks[r], passing)
		}
	}
	for _, rank := range l.ranks {
		for _, b := range rank {
			l.size(b)
		}
	}
}

// grid is how many rows a block of n boxes has.
func grid(n int) int { return max(min(n, gridRows), int(math.Ceil(math.Sqrt(float64(n)*1.5)))) }

func (l *layered) size(b *block) {
	if len(b.boxes) == 0 {
		return
	}
	widest := 0.0
	for _, at := range b.boxes {
		widest = max(widest, l.boxes[at].w)
	}
	for _, at := range b.boxes {
		l.boxes[at].w = widest
	}
	rows := grid(len(b.boxes))
	var colW, colH float64
	for i, at := range b.boxes {
		if i%rows == 0 {
			b.w, colW, colH = b.w+colW+boxGap, 0, -boxGap
		}
		colW = max(colW, l.boxes[at].w)
		colH += l.boxes[at].h + boxGap
		b.h = max(b.h, colH)
	}
	b.w += colW - boxGap
	if b.group != "" {
		b.w, b.h = b.w+2*framePad, b.h+2*framePad+frameLabel
	}
}

// chain lists the blocks a link goes through, ends included.
func (l *layered) chain(i int) []*block {
	k := l.links[i]
	out := []*block{l.of[k.from]}
	for r := l.boxes[k.from].rank + 1; r < l.boxes[k.to].rank; r++ {
		out = append(out, l.lanes[i][r])
	}
	return append(out, l.of[k.to])
}

// order sweeps forth and back, sorting each rank by the mean place of the
// neighbours in the rank before.
func (l *layered) order() {
	for sweep := range 8 {
		place := map[*block]float64{}
		for _, rank := range l.ranks {
			for i, b := range rank {
				place[b] = (float64(i) + 0.5) / float64(len(rank))
				b.center, b.links = 0, 0
			}
		}
		l.neighbours(sweep%2 == 0, sweep%2 == 1, func(b, near *block) {
			b.center += place[near]
			b.links++
		})
		for _, rank := range l.ranks {
			for _, b := range rank {
				if b.links == 0 {
					b.center, b.links = place[b], 1
				}
			}
			slices.SortStableFunc(rank, func(x, y *block) int {
				switch d := x.center/float64(x.links) - y.center/float64(y.links); {
				case d < -1e-9:
					return -1
				case d > 1e-9:
					return 1
				}
				return 0
			})
		}
	}
}

// neighbours calls f for each block and its neighbour in the rank before it,
// after it, or both.
func (l *layered) neighbours(before, after bool, f func(b, near *block)) {
	for i := range l.links {
		if l.links[i].hidden {
			continue
		}
		chain := l.chain(i)
		for j := 1; j < len(chain); j++ {
			if before {
				f(chain[j], chain[j-1])
			}
			if after {
				f(chain[j-1], chain[j])
			}
		}
	}
}

func (l *layered) columns() {
	x := 0.0
	for _, rank := range l.ranks {
		width := 0.0
		for _, b := range rank {
			width = max(width, b.w)
		}
		l.left, l.width = append(l.left, x), append(l.width, width)
		x += width + rankGap
	}
}

// rows gives every block its height on the page: as near to its neighbours as
// the blocks above and below it let it.
func (l *layered) rows() {
	for _, rank := range l.ranks {
		y := 0.0
		for _, b := range rank {
			b.y = y
			y += b.h + boxGap
		}
		for _, b := range rank {
			b.y -= (y - boxGap) / 2
		}
	}
	for range 24 {
		for _, rank := range l.ranks {
			for _, b := range rank {
				b.center, b.links = 0, 0
			}
		}
		l.neighbours(true, true, func(b, near *block) {
			b.center += near.y + near.h/2
			b.links++
		})
		for _, rank := range l.ranks {
			settle(rank)
		}
	}
}

// settle moves the blocks of a rank as near as possible, in the sense of
// least squares, to where they would like to be, without overlap and without
// change of order: blocks that would overlap are pooled and placed by their
// mean.
func settle(rank []*block) {
	type pool struct {
		sum float64 // of the wishes for the pool's top
		n   int
	}
	var pools []pool
	above := 0.0
	for _, b := range rank {
		want := b.y
		if b.links > 0 {
			want = b.center/float64(b.links) - b.h/2
		}
		last := pool{want - above, 1}
		for n := len(pools); n > 0 && pools[n-1].sum/float64(pools[n-1].n) > last.sum/float64(last.n); n-- {
			last = pool{pools[n-1].sum + last.sum, pools[n-1].n + last.n}
			pools = pools[:n-1]
		}
		pools = append(pools, last)
		above += b.h + boxGap
	}
	above, i := 0.0, 0
	for _, p := range pools {
		for range p.n {
			rank[i].y = p.sum/float64(p.n) + above
			above += rank[i].h + boxGap
			i++
		}
	}
}

// finish moves everything to positive coordinates and fills in boxes, frames
// and the ways of the links.
func (l *layered) finish() (frames []frame, w, h float64) {
	top, bottom := math.Inf(1), math.Inf(-1)
	for _, rank := range l.ranks {
		for _, b := range rank {
			top, bottom = min(top, b.y), max(bottom, b.y+b.h)
		}
	}
	for r, rank := range l.ranks {
		for _, b := range rank {
			b.y -= top
			if f, framed := l.place(b, r); framed {
				frames = append(frames, f)
			}
		}
	}
	for i := range l.links {
		if !l.links[i].hidden {
			l.lead(i)
		}
	}
	if len(l.ranks) == 0 {
		return nil, 0, 0
	}
	last := len(l.ranks) - 1
	return frames, l.left[last] + l.width[last], bottom - top
}

func (l *layered) place(b *block, rank int) (frame, bool) {
	x, y := l.left[rank]+(l.width[rank]-b.w)/2, b.y
	f := frame{group: b.group, x: x, y: y, w: b.w, h: b.h, rank: rank}
	if b.group != "" {
		x, y = x+framePad, y+framePad+frameLabel
	}
	rows, top, column := grid(max(len(b.boxes), 1)), y, 0.0
	for i, at := range b.boxes {
		if i > 0 && i%rows == 0 {
			x, y, column = x+column+boxGap, top, 0
		}
		l.boxes[at].x, l.boxes[at].y = x, y
		column = max(column, l.boxes[at].w)
		y += l.boxes[at].h + boxGap
	}
	return f, b.group != ""
}

// border is the box that the block around a box fills.
func (l *layered) border(at int) box {
	b, rank := l.of[at], l.boxes[at].rank
	return box{x: l.left[rank] + (l.width[rank]-b.w)/2, y: b.y, w: b.w, h: b.h, rank: rank}
}

func (l *layered) lead(i int) {
	k := &l.links[i]
	from, to := l.boxes[k.from], l.boxes[k.to]
	if k.frames {
		from, to = l.border(k.from), l.border(k.to)
	}
	k.points = append(k.points, point{from.x + from.w, from.y + from.h/2})
	for r := from.rank + 1; r < to.rank; r++ {
		y := l.lanes[i][r].y + lane/2
		k.points = append(k.points, point{l.left[r], y}, point{l.left[r] + l.width[r], y})
	}
	k.points = append(k.points, point{to.x, to.y + to.h/2})
}

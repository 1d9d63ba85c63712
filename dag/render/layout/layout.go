// Package layout places the boxes of a drawing in ranks, left to right, and leads the
// arrows between them. The rank of a box is the length of the longest path to it, the
// order within a rank comes from barycentres, and long arrows are led through the
// ranks between.
package layout

import (
	"math"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
)

// Box is a thing to place. Boxes of one group stand together in a frame.
type Box struct {
	W, H  float64
	Group string
	// X, Y is the top left corner, set by Place.
	X, Y float64
	Rank int
}

// Link is an arrow between boxes; From is before To. Points is the way of the
// arrow: where it leaves, the ends of each straight way through a rank, where it
// arrives; every second part of the way is a bend. A link of frames begins and ends at the frames around its boxes, a
// hidden one sets ranks and is not drawn.
type Link struct {
	From, To       int
	Frames, Hidden bool
	// Points is set by Place, and Inside where both ends are in one frame: then
	// the arrow leaves and arrives on the right.
	Points []Point
	Inside bool
	// Down is set by Place: the arrow leaves below and arrives above.
	Down bool
}

// Point is a place in the drawing.
type Point struct{ X, Y float64 }

// Frame is the border around the boxes of a group.
type Frame struct {
	Group      string
	X, Y, W, H float64
	Rank       int
}

// RankGap is what lies between ranks, where arrows bend, FramePad between a frame and
// its boxes.
const (
	RankGap  = 40.0
	FramePad = 10.0
)

const (
	boxGap     = 14.0 // between boxes of a rank
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
	boxes  []Box
	links  []Link
	titles map[string]float64
	ranks  [][]*block
	// of is the block of each box; lanes those of each link by rank.
	of    []*block
	lanes []map[int]*block
	left  []float64 // of each rank
	width []float64
	// down is set where the places are turned afterwards: x is down, y to the right.
	down bool
}

// Place places boxes and leads links; it returns the frames of the groups and the size
// of the whole. Links lead from lower to higher box numbers. A frame is at least as
// wide as its title, whose width titles has. With down, for a narrow screen, ranks stand
// below each other, and the boxes of a frame too; arrows to and from the boxes of a frame
// are those of the frame.
func Place(boxes []Box, links []Link, titles map[string]float64, down bool) (frames []Frame, w, h float64) {
	if !down {
		return place(boxes, links, titles, false)
	}
	for i := range boxes {
		boxes[i].W, boxes[i].H = boxes[i].H, boxes[i].W
	}
	frames, h, w = place(boxes, links, titles, true)
	for i := range boxes {
		b := &boxes[i]
		b.W, b.H, b.X, b.Y = b.H, b.W, b.Y, b.X
	}
	for i := range frames {
		f := &frames[i]
		f.W, f.H, f.X, f.Y = f.H, f.W, f.Y, f.X
	}
	for i := range links {
		links[i].Down = true
		for j, p := range links[i].Points {
			links[i].Points[j] = Point{p.Y, p.X}
		}
	}
	return frames, w, h
}

func place(boxes []Box, links []Link, titles map[string]float64, down bool) (frames []Frame, w, h float64) {
	l := &layered{boxes: boxes, links: links, titles: titles, of: make([]*block, len(boxes)), lanes: make([]map[int]*block, len(links)), down: down}
	l.rank()
	l.build()
	l.order()
	l.columns()
	l.rows()
	return l.finish()
}

// rank gives each box its rank, and all boxes of a group the same. Where a way leads
// out of a group and back into it, a group has a frame in each rank.
func (l *layered) rank() {
	edges, whole := make([]dag.Edge, len(l.links)), make([]dag.Edge, len(l.links))
	first, of := map[string]int{}, make([]int, len(l.boxes))
	for i, b := range l.boxes {
		of[i] = i
		if b.Group != "" {
			if _, ok := first[b.Group]; !ok {
				first[b.Group] = i
			}
			of[i] = first[b.Group]
		}
	}
	for i, k := range l.links {
		edges[i] = dag.Edge{From: k.From, To: k.To}
		whole[i] = dag.Edge{From: of[k.From], To: of[k.To]}
	}
	ranks, ok := Ranks(len(l.boxes), whole)
	if !ok {
		ranks, _ = Ranks(len(l.boxes), edges)
		for i := range of {
			of[i] = i
		}
	}
	last := 0
	for i := range l.boxes {
		l.boxes[i].Rank = ranks[of[i]]
		last = max(last, ranks[of[i]])
	}
	l.ranks = make([][]*block, last+1)
}

// Ranks are the lengths of the longest ways to each of n nodes, in any order; false
// when a way leads back to where it began. Edges from a node to itself do not count.
func Ranks(n int, edges []dag.Edge) ([]int, bool) {
	ranks := make([]int, n)
	for range n + 1 {
		changed := false
		for _, e := range edges {
			if e.From != e.To && ranks[e.To] <= ranks[e.From] {
				ranks[e.To], changed = ranks[e.From]+1, true
			}
		}
		if !changed {
			return ranks, true
		}
	}
	return ranks, false
}

// build makes the blocks of each rank in the order of the boxes.
func (l *layered) build() {
	for i := range l.boxes {
		b := &l.boxes[i]
		var home *block
		for _, other := range l.ranks[b.Rank] {
			if b.Group != "" && other.group == b.Group {
				home = other
			}
		}
		if home == nil {
			home = &block{group: b.Group}
			l.ranks[b.Rank] = append(l.ranks[b.Rank], home)
		}
		home.boxes = append(home.boxes, i)
		l.of[i] = home
	}
	for i, k := range l.links {
		l.lanes[i] = map[int]*block{}
		if k.Hidden {
			continue
		}
		for r := l.boxes[k.From].Rank + 1; r < l.boxes[k.To].Rank; r++ {
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

// grid is how many rows a block of n boxes has: it has three columns at most, and one
// row where it is turned.
func (l *layered) grid(n int) int {
	if l.down {
		return 1
	}
	return max(min(n, gridRows), (n+2)/3)
}

func (l *layered) size(b *block) {
	if len(b.boxes) == 0 {
		return
	}
	l.even(b)
	rows := l.grid(len(b.boxes))
	var colW, colH float64
	for i, at := range b.boxes {
		if i%rows == 0 {
			b.w, colW, colH = b.w+colW+boxGap, 0, -boxGap
		}
		colW = max(colW, l.boxes[at].W)
		colH += l.boxes[at].H + boxGap
		b.h = max(b.h, colH)
	}
	b.w += colW - boxGap
	switch {
	case b.group != "" && l.down:
		b.w, b.h = b.w+2*FramePad+frameLabel, max(b.h, l.titles[b.group])+2*FramePad
	case b.group != "":
		b.w, b.h = max(b.w, l.titles[b.group])+2*FramePad, b.h+2*FramePad+frameLabel
	}
}

// even makes the boxes of a block equally wide.
func (l *layered) even(b *block) {
	widest := 0.0
	for _, at := range b.boxes {
		widest = max(widest, *l.across(at))
	}
	for _, at := range b.boxes {
		*l.across(at) = widest
	}
}

// across is the size of a box from its left to its right as it is seen.
func (l *layered) across(at int) *float64 {
	if l.down {
		return &l.boxes[at].H
	}
	return &l.boxes[at].W
}

// chain lists the blocks a link goes through, ends included.
func (l *layered) chain(i int) []*block {
	k := l.links[i]
	out := []*block{l.of[k.From]}
	for r := l.boxes[k.From].Rank + 1; r < l.boxes[k.To].Rank; r++ {
		out = append(out, l.lanes[i][r])
	}
	return append(out, l.of[k.To])
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
		if l.links[i].Hidden {
			continue
		}
		chain := l.chain(i)
		if chain[0] == chain[len(chain)-1] {
			continue
		}
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
		x += width + RankGap
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
func (l *layered) finish() (frames []Frame, w, h float64) {
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
		if !l.links[i].Hidden {
			l.lead(i)
		}
	}
	if len(l.ranks) == 0 {
		return nil, 0, 0
	}
	last := len(l.ranks) - 1
	return frames, l.left[last] + l.width[last], bottom - top
}

func (l *layered) place(b *block, rank int) (Frame, bool) {
	x, y := l.left[rank], b.y
	f := Frame{Group: b.group, X: x, Y: y, W: b.w, H: b.h, Rank: rank}
	switch {
	case b.group != "" && l.down:
		x, y = x+FramePad+frameLabel, y+FramePad
	case b.group != "":
		x, y = x+FramePad, y+FramePad+frameLabel
	}
	rows, top, column := l.grid(max(len(b.boxes), 1)), y, 0.0
	for i, at := range b.boxes {
		if i > 0 && i%rows == 0 {
			x, y, column = x+column+boxGap, top, 0
		}
		l.boxes[at].X, l.boxes[at].Y = x, y
		column = max(column, l.boxes[at].W)
		y += l.boxes[at].H + boxGap
	}
	return f, b.group != ""
}

// border is the box that the block around a box fills.
func (l *layered) border(at int) Box {
	b, rank := l.of[at], l.boxes[at].Rank
	return Box{X: l.left[rank], Y: b.y, W: b.w, H: b.h, Rank: rank}
}

// lead finds the way of a link: straight to the end of its rank, and from there by
// bends between the ranks and straight through them.
func (l *layered) lead(i int) {
	k := &l.links[i]
	from, to := l.end(k.From, k.Frames), l.end(k.To, k.Frames)
	if l.of[k.From] == l.of[k.To] {
		if k.Hidden = len(l.of[k.From].boxes) > l.grid(len(l.of[k.From].boxes)); !k.Hidden {
			k.Inside = true
			k.Points = []Point{{from.X + from.W, from.Y + from.H/2}, {to.X + to.W, to.Y + to.H/2}}
		}
		return
	}
	k.Points = append(k.Points, Point{from.X + from.W, from.Y + from.H/2}, Point{l.left[from.Rank] + l.width[from.Rank], from.Y + from.H/2})
	for r := from.Rank + 1; r < to.Rank; r++ {
		y := l.lanes[i][r].y + lane/2
		k.Points = append(k.Points, Point{l.left[r], y}, Point{l.left[r] + l.width[r], y})
	}
	k.Points = append(k.Points, Point{l.left[to.Rank], to.Y + to.H/2}, Point{to.X, to.Y + to.H/2})
}

// end is where a link ends: at the box, or at the frame around it where the link is of
// frames, or where other boxes of the frame would be in the way.
func (l *layered) end(at int, frames bool) Box {
	if frames || l.down || len(l.of[at].boxes) > l.grid(len(l.of[at].boxes)) {
		return l.border(at)
	}
	return l.boxes[at]
}

// Glyph is the width of a character in sizes of its type, which is bold; columns is what
// a terminal gives it.
func Glyph(r rune, columns int) float64 {
	switch {
	case columns == 0:
		return 0
	case r >= 0x1f000:
		return 1.3 // emoji
	case columns == 2:
		return 1.05
	case strings.ContainsRune(" '/IJ\\|,.ijl·", r):
		return 0.38
	case strings.ContainsRune("!()[]:;-ftr_`–", r):
		return 0.5
	case strings.ContainsRune("MWmw%@", r):
		return 1.1
	case r >= 'A' && r <= 'Z' || strings.ContainsRune("&#+<=>^~", r) || r >= 'א' && r <= 'ת':
		return 0.85
	case r < 0x7f || r>>7 == 0x2500>>7:
		return 0.73
	}
	return 1
}

// Width is how wide a line of bold type may be in sizes of it, in the widest of the fonts
// that pictures ask for; columns is what a terminal gives a character.
func Width(s string, columns func(rune) int) (w float64) {
	for _, r := range s {
		w += Glyph(r, columns(r))
	}
	return w
}

// Fit is the beginning of a text that has room, in sizes of its type, with an ellipsis
// where that is not all.
func Fit(s string, room float64, columns func(rune) int) string {
	if Width(s, columns) <= room {
		return s
	}
	w := Glyph('…', columns('…'))
	for at, r := range s {
		if w += Glyph(r, columns(r)); w > room {
			return s[:at] + "…"
		}
	}
	return s
}

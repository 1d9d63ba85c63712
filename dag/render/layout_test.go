package render

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whatever the graph: boxes do not overlap, lie within the picture and to the
// right of what they wait for, and arrows lead from left to right.
func TestLayout(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		boxes := make([]box, 1+rnd.IntN(30))
		for i := range boxes {
			boxes[i] = box{w: 20 + float64(rnd.IntN(200)), h: 20 + float64(rnd.IntN(60))}
			if rnd.IntN(3) == 0 {
				boxes[i].group = fmt.Sprint("g", rnd.IntN(3))
			}
		}
		var links []link
		for to := range boxes {
			for from := range to {
				if rnd.IntN(6) == 0 {
					links = append(links, link{from: from, to: to, frames: rnd.IntN(4) == 0, hidden: rnd.IntN(5) == 0})
				}
			}
		}
		_, w, h := layout(boxes, links)
		for i, a := range boxes {
			assert.True(t, a.x >= -1e-6 && a.y >= -1e-6 && a.x+a.w <= w+1e-6 && a.y+a.h <= h+1e-6, "box %d is inside", i)
			for j, b := range boxes[:i] {
				apart := a.x+a.w <= b.x+1e-6 || b.x+b.w <= a.x+1e-6 || a.y+a.h <= b.y+1e-6 || b.y+b.h <= a.y+1e-6
				assert.True(t, apart, "boxes %d and %d", i, j)
			}
		}
		for _, k := range links {
			assert.Less(t, boxes[k.from].x+boxes[k.from].w, boxes[k.to].x)
			assert.Equal(t, k.hidden, len(k.points) == 0)
			for i := 1; i < len(k.points); i++ {
				assert.LessOrEqual(t, k.points[i-1].x, k.points[i].x)
			}
		}
	}
}

func TestTextWidths(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "检查": 4, "🔒": 2, "é": 1, "e\u0301": 1, "→µ─": 3} {
		assert.Equal(t, want, textWidth(s), s)
	}
	assert.Equal(t, "检查工…", cut("检查工具调用", 7))
	assert.Equal(t, "检查工…", cut("检查工具调用", 8))
	assert.Equal(t, "检查", cut("检查", 4))
	assert.Equal(t, []string{"ab cd", "ef"}, wrap([]string{"ab", "cd", "ef"}, " ", 0, 5))
	assert.Equal(t, []string{"", "ab cd", "ef"}, wrap([]string{"ab", "cd", "ef"}, " ", 4, 5))
	assert.Equal(t, []string{"abcde", "fgh i"}, wrap([]string{"abcdefgh", "i"}, " ", 0, 5))
	assert.Equal(t, []string{"检查", "工"}, wrap([]string{"检查工"}, " ", 0, 5))
}

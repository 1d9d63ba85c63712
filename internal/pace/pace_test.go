package pace

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPace: memory is given back once, after plans have been built and
// when no more are; and GOGC is the user's where he says so.
func TestPace(t *testing.T) {
	for live, percent := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 400, 32 << 20: 200, 64 << 20: 100, 128 << 20: 50, 4 << 30: 50} {
		assert.Equal(t, percent, (&Pace{most: Laptop}).room(live), live)
	}
	for live, percent := range map[uint64]int{0: 1600, 4 << 20: 1600, 8 << 20: 800, 4 << 30: 50} {
		assert.Equal(t, percent, (&Pace{most: Machine}).room(live), live)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	h := New(Laptop)
	assert.Equal(t, 400, debug.SetGCPercent(h.percent))
	h.Building()
	assert.Equal(t, 100, debug.SetGCPercent(h.percent))
	litter := func() { held = make([]byte, 64<<20); held = nil }
	freed := func(builds int64) bool {
		at := h.allocated
		h.Tidy(builds)
		return h.allocated != at
	}
	litter()
	assert.Equal(t, []bool{false, false, true, false}, []bool{freed(1), freed(2), freed(2), freed(2)})
	litter()
	assert.False(t, freed(2), "no plan was built")
	assert.False(t, freed(3))
	assert.True(t, freed(3))
	assert.NotEqual(t, 100, h.percent)

	t.Setenv("GOGC", "150")
	debug.SetGCPercent(150)
	New(Machine).Tidy(1)
	assert.Equal(t, 150, debug.SetGCPercent(150))
}

// held keeps what litter makes from being left out.
var held []byte

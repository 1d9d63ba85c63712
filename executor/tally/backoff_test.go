package tally

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFatigue(t *testing.T) {
	var f Backoff
	evaluated := func(times int, failed bool) (n int) {
		for range times {
			if !f.Pausing() {
				n++
				f.Note(failed)
			}
		}
		return n
	}
	assert.Equal(t, 100, evaluated(100, false))
	assert.Equal(t, 2, evaluated(2, true))
	assert.Equal(t, 100, evaluated(100, false), "two in a row are nothing")
	failed := evaluated(20_000, true)
	assert.Less(t, failed, 40)
	assert.Positive(t, evaluated(longestPause+1, false), "it is tried again")
	assert.Equal(t, 100, evaluated(100, false))
}

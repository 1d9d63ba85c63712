package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestCollectLater: only the first collection comes late; serve and who sets GOGC
// have their own pace.
func TestCollectLater(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(150))
	t.Setenv("GOGC", "150")
	collectLater(nil)
	assert.Equal(t, 150, debug.SetGCPercent(150))
	t.Setenv("GOGC", "")
	collectLater([]string{"serve"})
	assert.Equal(t, 150, debug.SetGCPercent(150))
	collectLater([]string{"run"})
	assert.Equal(t, 400, debug.SetGCPercent(400))
	for debug.SetGCPercent(400) != 100 { // until a collection has come
		runtime.GC()
	}
}

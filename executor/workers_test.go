package executor

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNextAfterTheCaller: when the caller gave up and a body that failed for
// that has reported it, the two are there at once; the firing is cancelled
// whichever is looked at first.
func TestNextAfterTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 64 {
		c := &liveWorkers{reports: make(chan report, 1)}
		c.reports <- report{err: errors.New("timed out"), gone: true}
		_, ok := c.next(ctx)
		assert.False(t, ok)
	}
}

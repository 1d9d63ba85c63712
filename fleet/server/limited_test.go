package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestLimited: a request's context ends by its time, with its request and when it is
// decided, whether or not somebody waits for that, and says why.
func TestLimited(t *testing.T) {
	over := func(l *limited, waited <-chan struct{}) bool {
		synctest.Wait()
		for _, done := range []<-chan struct{}{waited, l.Done()} {
			select {
			case <-done:
			default:
				if done != nil {
					return false
				}
			}
		}
		return true
	}
	for _, waits := range []bool{true, false} {
		for name, want := range map[string]error{"time": context.DeadlineExceeded, "request": context.Canceled, "decided": context.Canceled} {
			synctest.Test(t, func(t *testing.T) {
				request, leave := context.WithCancel(t.Context())
				defer leave()
				l := &limited{Context: request, until: time.Now().Add(time.Second)}
				defer l.cancel()
				var done <-chan struct{}
				if waits {
					done = l.Done()
					child, end := context.WithCancel(l)
					defer end()
					defer func() { synctest.Wait(); assert.Equal(t, want, child.Err()) }()
				}
				time.Sleep(time.Second - 1)
				assert.NoError(t, l.Err())
				assert.False(t, waits && over(l, done))
				until, ok := l.Deadline()
				assert.True(t, ok && time.Until(until) == 1)
				switch name {
				case "time":
					time.Sleep(time.Nanosecond)
				case "request":
					leave()
				default:
					l.cancel()
				}
				assert.Equal(t, want, l.Err(), name)
				assert.True(t, over(l, done), name)
				assert.Equal(t, want, l.Err(), name)
			})
		}
	}
}

//go:build unix

package serve

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/wire"
)

// attended is how long an event with hooks that start something may take before
// its caller is attended to. One of rules alone is, when the server next looks
// after itself: those have been decided by then, and the timer of each would
// wake another thread, which takes longer than deciding.
const attended = 20 * time.Millisecond

// attendance looks after the caller of an event that takes longer: when it goes
// away gone is called, and now and then it is told that the server is at work.
type attendance struct {
	conn  *net.UnixConn
	gone  func()
	began time.Time

	mu    sync.Mutex
	timer *time.Timer
	watch sync.WaitGroup
	beats int
	ended bool
}

// attending are the events under way. It is safe for concurrent use.
type attending struct {
	mu  sync.Mutex
	all map[*attendance]struct{}
}

// begin notes an event; the caller ends it.
func (g *attending) begin(conn *net.UnixConn, gone func()) *attendance {
	a := &attendance{conn: conn, gone: gone, began: time.Now()}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[*attendance]struct{}{}
	}
	g.all[a] = struct{}{}
	return a
}

// look attends to the callers of those that take longer.
func (g *attending) look() {
	g.mu.Lock()
	var late []*attendance
	for a := range g.all { // in any order: each is one of its own
		if time.Since(a.began) > attended {
			late = append(late, a)
		}
	}
	g.mu.Unlock()
	for _, a := range late {
		a.soon()
	}
}

// end is the end of an event: nothing is written to its caller any more.
func (g *attending) end(a *attendance) {
	g.mu.Lock()
	delete(g.all, a)
	g.mu.Unlock()
	a.mu.Lock()
	a.ended = true
	if a.timer != nil {
		a.timer.Stop()
	}
	beats := a.beats
	a.mu.Unlock()
	if beats > 0 {
		a.conn.SetReadDeadline(time.Now()) // ends the watch
		a.watch.Wait()
	}
}

// soon attends to the caller once the event has taken longer.
func (a *attendance) soon() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil && !a.ended {
		a.timer = time.AfterFunc(max(0, attended-time.Since(a.began)), a.attend)
	}
}

func (a *attendance) attend() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	if a.beats == 0 && a.conn.SetReadDeadline(time.Time{}) == nil {
		a.watch.Go(func() {
			var one [1]byte
			a.conn.Read(one[:]) // ends when the caller is gone, or says what it must not
			a.gone()
		})
	}
	if a.conn.SetWriteDeadline(time.Now().Add(writeTime)) == nil {
		a.conn.Write([]byte{wire.Working}) // a caller that is gone is seen by reading
	}
	a.beats++
	a.timer.Reset(wire.Beat * time.Millisecond)
}

type attendanceKey struct{}

func withAttendance(ctx context.Context, a *attendance) context.Context {
	return context.WithValue(ctx, attendanceKey{}, a)
}

// attendanceOf is nil, and attends to nobody, where nobody waits.
func attendanceOf(ctx context.Context) *attendance {
	a, _ := ctx.Value(attendanceKey{}).(*attendance)
	return a
}

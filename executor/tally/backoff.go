// Package tally counts failures in a row, so that what keeps failing is tried less often.
package tally

import "sync/atomic"

// Backoff keeps a fusion one of whose members keeps failing from being
// evaluated for nothing before every member is evaluated alone: after some
// failures in a row it pauses, for longer each time. What the members answer
// alone is the same. The zero Backoff is ready; it is safe for concurrent use,
// and its counts are approximate then.
type Backoff struct{ failures, pause atomic.Int32 }

const (
	// tolerated is how many failures in a row a fusion may have.
	tolerated = 3
	// longestPause is how many evaluations it pauses at most.
	longestPause = 1024
)

// Pausing reports whether the fusion is left out this time.
func (f *Backoff) Pausing() bool { return f.pause.Load() > 0 && f.pause.Add(-1) >= 0 }

// Note notes how an evaluation went.
func (f *Backoff) Note(failed bool) {
	if !failed {
		if f.failures.Load() != 0 {
			f.failures.Store(0)
		}
		return
	}
	if n := f.failures.Add(1); n >= tolerated {
		f.pause.Store(min(int32(2)<<min(n-tolerated, 16), longestPause))
	}
}

package executor

import "sync/atomic"

// fatigue keeps a fusion one of whose members keeps failing from being
// evaluated for nothing before every member is evaluated by itself: after some
// failures in a row it rests, for longer each time. What members say by
// themselves is the same. The zero fatigue is ready; it is safe for concurrent
// use, and counts roughly then.
type fatigue struct{ failures, rest atomic.Int32 }

const (
	// patience is how many failures in a row a fusion is given.
	patience = 3
	// longestRest is how many evaluations it rests at most.
	longestRest = 1024
)

// resting reports whether the fusion is left alone this time.
func (f *fatigue) resting() bool { return f.rest.Load() > 0 && f.rest.Add(-1) >= 0 }

// tell says how an evaluation went.
func (f *fatigue) tell(failed bool) {
	if !failed {
		if f.failures.Load() != 0 {
			f.failures.Store(0)
		}
		return
	}
	if n := f.failures.Add(1); n >= patience {
		f.rest.Store(min(int32(2)<<min(n-patience, 16), longestRest))
	}
}

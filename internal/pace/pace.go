// Package pace sets how often a server collects garbage, and gives memory back to the
// system when what building plans left behind is no longer needed.
package pace

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// roomBytes is what a server allocates between two collections if that is
	// between leastRoom and its most room, per cent of what it holds. Collecting half
	// as often makes rules in Rego a fifth faster; a large policy pays for that
	// with as much memory as it is large, and gains little from more than this.
	roomBytes = 64 << 20
	leastRoom = 50
)

// How much a server may allocate between two collections, in per cent of what it holds,
// however little that is.
const (
	// Laptop is for a server beside a user's work: a small policy keeps it small.
	Laptop = 400
	// Machine is for a server that others wait for: 64 MiB are little there, and an
	// event that meets a collection waits some milliseconds more.
	Machine = 1600
)

const (
	// litterBytes, and a quarter of what is live, is how much must have been
	// allocated since for memory to be given back to the system: that takes a
	// collection.
	litterBytes = 8 << 20
)

// Pace keeps the memory of a server near what its plans hold. It is
// used by one goroutine, which is not that of an event.
type Pace struct {
	// own is true unless the user has set GOGC, which then holds.
	own bool
	// most is Laptop or Machine, percent what is in force.
	most    int
	percent int
	// builds and allocated are the counts when memory was last given back.
	builds    int64
	allocated uint64
	// settled is the count of builds a moment ago.
	settled int64
}

// New sets the pace of a server. most is Laptop or Machine.
func New(most int) *Pace {
	h := &Pace{own: os.Getenv("GOGC") == "", most: most, percent: 100, builds: -1} // starting leaves something behind as well
	live, _ := memorySamples()
	h.pace(h.room(live))
	return h
}

// Building is called before a policy is read again, and holds until the next Tidy: how much
// there will be to hold is not known.
func (h *Pace) Building() { h.pace(min(h.percent, 100)) }

// memorySamples are what housekeeping looks at, in this order.
func memorySamples() (live, allocated uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}

// Tidy is called now and then with the number of plans built so far. What
// building leaves behind is given back once no plan has been built since the
// last call: a collection costs more than it brings while more is on the way.
func (h *Pace) Tidy(builds int64) {
	live, allocated := memorySamples()
	if builds != h.builds && builds == h.settled {
		if allocated-h.allocated > max(litterBytes, live/4) {
			debug.FreeOSMemory()
			live, allocated = memorySamples()
		}
		h.builds, h.allocated = builds, allocated
	}
	h.settled = builds
	h.pace(h.room(live))
}

// pace sets how much is allocated between two collections.
func (h *Pace) pace(percent int) {
	if h.own && percent != h.percent {
		h.percent = percent
		debug.SetGCPercent(percent)
	}
}

// room is roomBytes in per cent of what is live.
func (h *Pace) room(live uint64) int {
	return int(min(max(roomBytes*100/max(live, 1), leastRoom), uint64(h.most)))
}

//go:build unix

package main

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// maxSightings bounds the sightings remembered.
const maxSightings = 4096

type sighting struct{ project, agent, native string }

// sightingQueue records which agents' hooks fire (memory.saw), without an
// event waiting for it. It is safe for concurrent use.
type sightingQueue struct {
	mu    sync.Mutex
	last  map[sighting]time.Time
	queue []sighting
}

// add notes that an agent's event was decided.
func (q *sightingQueue) add(project, agent, native string) {
	s, now := sighting{project, agent, native}, time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	if last, ok := q.last[s]; ok && now.Sub(last) < seenEvery {
		return
	}
	if q.last == nil || len(q.last) >= maxSightings {
		q.last = map[sighting]time.Time{}
	}
	q.last[s] = now
	q.queue = append(q.queue, s)
}

// write writes down what was noted.
func (q *sightingQueue) write() {
	q.mu.Lock()
	queue := q.queue
	q.queue = nil
	q.mu.Unlock()
	slices.SortFunc(queue, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.project, b.project), cmp.Compare(a.agent, b.agent), cmp.Compare(a.native, b.native))
	})
	for _, s := range queue {
		openMemory(s.project).saw(s.agent, s.native)
	}
}

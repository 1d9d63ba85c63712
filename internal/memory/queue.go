package memory

import (
	"cmp"
	"sort"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/lists"
)

// maxSightings bounds the sightings remembered.
const maxSightings = 4096

type sighting struct{ project, agent, native string }

// Queue records which agents' hooks fire ([Memory.Saw]), without an
// event waiting for it. It is safe for concurrent use.
type Queue struct {
	mu    sync.Mutex
	last  map[sighting]time.Time
	queue []sighting
}

// Add notes that an agent's event was decided.
func (q *Queue) Add(project, agent, native string) {
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

// Write writes down what was noted.
func (q *Queue) Write() {
	q.mu.Lock()
	queue := q.queue
	q.queue = nil
	q.mu.Unlock()
	sort.Slice(queue, func(i, j int) bool {
		a, b := &queue[i], &queue[j]
		return lists.First(cmp.Compare(a.project, b.project), cmp.Compare(a.agent, b.agent), cmp.Compare(a.native, b.native)) < 0
	})
	for _, s := range queue {
		Open(s.project).Saw(s.agent, s.native)
	}
}

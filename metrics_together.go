package hookc

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// batchCounter counts the firings in which hooks were evaluated together and said
// nothing: once for all of them, or for the first of them where a chain ended
// early. What it counts goes to the hooks' own counters before anybody looks at
// those.
type batchCounter struct {
	hooks []*counter
	all   tally
	// others counts the firings of a filteredCounter that none of these hooks was filtered in.
	others atomic.Int64

	mu    sync.Mutex
	parts atomic.Pointer[[]*part] // ascending
}

// tally is runs that took the same time for each hook.
type tally struct {
	total   atomic.Int64
	buckets [bucketCount]atomic.Int64
}

// part is the tally of a batchCounter's first hooks.
type part struct {
	first int
	tally tally
}

// maxParts is how many places a batchCounter remembers at which chains ended early.
const maxParts = 256

// together is what counts runs of nodes of a plan together, until it is done.
func (m *Metrics) together(p *dag.Plan, nodes []int) (ran func(first int, took time.Duration, others bool), done func()) {
	s := &batchCounter{hooks: make([]*counter, len(nodes))}
	for k, i := range nodes {
		h := p.Nodes[i].Hook
		s.hooks[k] = m.counter(hookKey{h.Event, h.Name})
	}
	s.parts.Store(new([]*part))
	m.batchCounters.Store(s, struct{}{})
	return s.ran, func() {
		m.moving.Lock()
		defer m.moving.Unlock()
		m.batchCounters.Delete(s)
		s.settle()
	}
}

func (s *batchCounter) ran(first int, took time.Duration, others bool) {
	if others {
		s.others.Add(1)
	}
	t := &s.all
	if first < len(s.hooks) {
		t = s.part(first)
	}
	if t == nil {
		for _, h := range s.hooks[:first] {
			h.add(policy.StatusRan, 1, took)
		}
		return
	}
	t.total.Add(int64(took))
	t.buckets[bucket(took)].Add(1)
}

// part is the tally of the first hooks, nil when there are too many others.
func (s *batchCounter) part(first int) *tally {
	if t, _ := s.find(first); t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, at := s.find(first)
	parts := *s.parts.Load()
	if t != nil || len(parts) == maxParts {
		return t
	}
	more := lists.Insert(lists.Copy(parts), at, &part{first: first})
	s.parts.Store(&more)
	return &more[at].tally
}

func (s *batchCounter) find(first int) (*tally, int) {
	parts := *s.parts.Load()
	at, ok := slices.BinarySearchFunc(parts, first, func(p *part, n int) int { return cmp.Compare(p.first, n) })
	if !ok {
		return nil, at
	}
	return &parts[at].tally, at
}

// settle moves what was counted to the hooks' own counters.
func (s *batchCounter) settle() {
	s.all.settle(s.hooks)
	for _, p := range *s.parts.Load() {
		p.tally.settle(s.hooks[:p.first])
	}
	if n := s.others.Swap(0); n != 0 {
		for _, h := range s.hooks {
			h.filtered.Add(-n)
		}
	}
}

func (t *tally) settle(hooks []*counter) {
	if n := t.total.Swap(0); n != 0 {
		for _, h := range hooks {
			h.total.Add(n)
		}
	}
	for b := range t.buckets {
		if t.buckets[b].Load() == 0 {
			continue
		}
		n := t.buckets[b].Swap(0)
		for _, h := range hooks {
			h.counting()[b].Add(n)
		}
	}
}

// settle moves what was counted together to the hooks' own counters.
func (m *Metrics) settle() {
	m.moving.Lock()
	defer m.moving.Unlock()
	m.filteredCounters.Range(func(k, _ any) bool {
		k.(*filteredCounter).settle()
		return true
	})
	m.batchCounters.Range(func(k, _ any) bool {
		k.(*batchCounter).settle()
		return true
	})
}

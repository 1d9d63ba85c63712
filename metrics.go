package hookc

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// Metrics are counters per hook (seed 0's and more). All methods are safe for
// concurrent use; counting takes no lock.
type Metrics struct {
	hooks            sync.Map // hookKey → *counter
	filteredCounters sync.Map // *filteredCounter → struct{}
	batchCounters    sync.Map // *batchCounter → struct{}
	// moving is held while firings go from a filteredCounter or a batchCounter to the counters, so
	// that no reader finds them in both or in neither.
	moving sync.RWMutex
}

type hookKey struct {
	event policy.Event
	name  string
}

// HookMetrics are the counters of one hook on one event.
type HookMetrics struct {
	Event policy.Event `json:"event"`
	Hook  string       `json:"hook"`
	// Runs counts the times the hook was started; each ended OK, Failed or
	// Squashed. Filtered counts the times its filter said no.
	Runs     int64 `json:"runs"`
	OK       int64 `json:"ok"`
	Failed   int64 `json:"failed"`
	Filtered int64 `json:"filtered"`
	Squashed int64 `json:"squashed"`
	Retries  int64 `json:"retries"`
	// Left counts the events that the native code of a rule left to OPA, which
	// costs both.
	Left int64 `json:"left,omitempty"`
	// Total is the time spent, P50 and P95 what half and 95 % of the runs
	// took at most, within 12.5 %; all in nanoseconds.
	Total time.Duration `json:"total_ns"`
	P50   time.Duration `json:"p50_ns"`
	P95   time.Duration `json:"p95_ns"`
}

// counter keeps a histogram with eight buckets to a doubling: bounded, exact
// enough, and mergeable by addition.
type counter struct {
	failed, filtered, squashed, retries, left, total atomic.Int64

	// buckets hold every run. Those that went well, which most do, are counted
	// nowhere else: each counter costs a rule a tenth of its time. They are nil
	// until the first run, which most hooks of a large policy never have.
	buckets atomic.Pointer[buckets]
}

// buckets count runs by how long they took.
type buckets struct {
	of [bucketCount]atomic.Int64

	// Those of 4 KiB would all be in one set of each cache.
	_ [256]byte
}

// noRuns are the buckets of whoever has none; nothing is written to them.
var noRuns buckets

// counted are the buckets to read.
func (c *counter) counted() *[bucketCount]atomic.Int64 {
	if b := c.buckets.Load(); b != nil {
		return &b.of
	}
	return &noRuns.of
}

// counting are the buckets to write to.
func (c *counter) counting() *[bucketCount]atomic.Int64 {
	b := c.buckets.Load()
	if b == nil {
		c.buckets.CompareAndSwap(nil, new(buckets))
		b = c.buckets.Load()
	}
	return &b.of
}

// bucketCount is one more than the bucket of the longest duration.
const bucketCount = 488

// count is what counts the runs of a node: an executor finds the counter once,
// not with every event.
func (m *Metrics) count(n *dag.Node) func(policy.Status, int, time.Duration) {
	c := m.counter(hookKey{n.Hook.Event, n.Hook.Name})
	if r, ok := n.Runner.(interface{ CountLeft(func()) }); ok {
		r.CountLeft(func() { c.left.Add(1) })
	}
	return c.add
}

// filteredCounter counts the firings of a plan in which most of its hooks were filtered:
// once for all of them, and once less for each that was not.
type filteredCounter struct {
	hooks   []*counter
	firings atomic.Int64
}

// filtered is what counts such firings of a plan, until it is done.
func (m *Metrics) filtered(p *dag.Plan) (but func(nodes []int), done func()) {
	c := &filteredCounter{hooks: make([]*counter, len(p.Nodes))}
	for i := range p.Nodes {
		h := p.Nodes[i].Hook
		c.hooks[i] = m.counter(hookKey{h.Event, h.Name})
	}
	m.filteredCounters.Store(c, struct{}{})
	but = func(nodes []int) {
		for _, i := range nodes {
			c.hooks[i].filtered.Add(-1)
		}
		c.firings.Add(1)
	}
	return but, func() {
		m.moving.Lock()
		defer m.moving.Unlock()
		m.filteredCounters.Delete(c)
		c.settle()
	}
}

// settle moves what was counted to the hooks' own counters.
func (c *filteredCounter) settle() {
	if n := c.firings.Swap(0); n != 0 {
		for _, h := range c.hooks {
			h.filtered.Add(n)
		}
	}
}

// counter finds a hook's counter, or begins it.
func (m *Metrics) counter(key hookKey) *counter {
	found, ok := m.hooks.Load(key)
	if !ok {
		found, _ = m.hooks.LoadOrStore(key, &counter{})
	}
	return found.(*counter)
}

func (c *counter) add(status policy.Status, attempts int, took time.Duration) {
	if attempts > 1 {
		c.retries.Add(int64(attempts - 1))
	}
	switch status { // an async hook that was started reports itself when it has ended
	case policy.StatusRan:
		c.ran(took)
	case policy.StatusFailed:
		c.ran(took) // first, so that no reader sees more failures than runs
		c.failed.Add(1)
	case policy.StatusSquashed:
		c.ran(took)
		c.squashed.Add(1)
	case policy.StatusFiltered:
		c.filtered.Add(1)
	}
}

// Ran counts one run of a hook that went well and took so long, which something
// other than an Engine has seen.
func (m *Metrics) Ran(event policy.Event, hook string, took time.Duration) {
	m.counter(hookKey{event, hook}).add(policy.StatusRan, 1, took)
}

func (c *counter) ran(took time.Duration) {
	c.total.Add(int64(took))
	c.counting()[bucket(took)].Add(1)
}

func (c *counter) runs() int64 {
	var n int64
	all := c.counted()
	for b := range all {
		n += all[b].Load()
	}
	return n
}

// bucket is the histogram bucket of a duration.
func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 8 {
		return int(n)
	}
	exponent := bits.Len64(n) - 4
	return exponent*8 + int(n>>exponent)
}

// bound is the greatest duration in a bucket.
func bound(b int) time.Duration {
	if b < 8 {
		return time.Duration(b)
	}
	exponent := b/8 - 1
	return time.Duration(uint64(b%8+8+1)<<exponent - 1)
}

// quantile is what the given percentage of the runs took at most.
func (c *counter) quantile(percent int64) time.Duration {
	rank := (c.runs()*percent + 99) / 100
	seen, at, all := int64(0), -1, c.counted()
	for b := range all {
		n := all[b].Load()
		if n == 0 {
			continue
		}
		at = b
		if seen += n; seen >= rank {
			break
		}
	}
	if at < 0 {
		return 0
	}
	return bound(at)
}

// Take moves what was counted so far into Metrics of its own, for a host that
// adds it to a record elsewhere. A run that is being counted meanwhile is in
// one of the two; its parts may be in both.
func (m *Metrics) Take() *Metrics {
	m.settle()
	out := &Metrics{}
	m.moving.RLock()
	defer m.moving.RUnlock()
	m.hooks.Range(func(k, v any) bool {
		from, to := v.(*counter), out.counter(k.(hookKey))
		if from.buckets.Load() != nil {
			old, now := from.counting(), to.counting()
			for b := range old {
				now[b].Store(old[b].Swap(0))
			}
		}
		to.failed.Store(from.failed.Swap(0))
		to.filtered.Store(from.filtered.Swap(0))
		to.squashed.Store(from.squashed.Swap(0))
		to.retries.Store(from.retries.Swap(0))
		to.left.Store(from.left.Swap(0))
		to.total.Store(from.total.Swap(0))
		return true
	})
	return out
}

// List returns the counters by event and hook.
func (m *Metrics) List() []HookMetrics {
	m.settle()
	var out []HookMetrics
	m.moving.RLock()
	defer m.moving.RUnlock()
	m.hooks.Range(func(k, v any) bool {
		key, c := k.(hookKey), v.(*counter)
		filtered := max(c.filtered.Load(), 0)
		if c.runs()+filtered+c.retries.Load() == 0 {
			return true // begun with its program and never reached
		}
		failed, squashed := c.failed.Load(), c.squashed.Load()
		runs := c.runs()
		out = append(out, HookMetrics{
			Event: key.event, Hook: key.name,
			Runs: runs, OK: runs - failed - squashed, Failed: failed, Filtered: filtered,
			Squashed: squashed, Retries: c.retries.Load(), Left: c.left.Load(), Total: time.Duration(c.total.Load()),
			P50: c.quantile(50), P95: c.quantile(95),
		})
		return true
	})
	sort.Slice(out, func(i, j int) bool {
		return lists.First(out[i].Event.Compare(out[j].Event), cmp.Compare(out[i].Hook, out[j].Hook)) < 0
	})
	return out
}

// hookRecord is a counter as it is stored; Buckets holds the buckets that are
// not empty.
type hookRecord struct {
	HookMetrics
	Buckets map[int]int64 `json:"buckets,omitempty"`
}

// MarshalJSON is everything counted, so that it can be added to another
// Metrics with UnmarshalJSON.
func (m *Metrics) MarshalJSON() ([]byte, error) {
	var out []hookRecord
	for _, h := range m.List() {
		found, _ := m.hooks.Load(hookKey{h.Event, h.Hook})
		c := found.(*counter)
		r := hookRecord{HookMetrics: h, Buckets: map[int]int64{}}
		all := c.counted()
		for b := range all {
			if n := all[b].Load(); n > 0 {
				r.Buckets[b] = n
			}
		}
		out = append(out, r)
	}
	return json.Marshal(out)
}

// UnmarshalJSON adds what MarshalJSON wrote to what is counted already.
func (m *Metrics) UnmarshalJSON(text []byte) error {
	var records []hookRecord
	if err := json.Unmarshal(text, &records); err != nil {
		return err
	}
	for _, r := range records {
		c := m.counter(hookKey{r.Event, r.Hook})
		for b, n := range r.Buckets {
			if b >= 0 && b < bucketCount {
				c.counting()[b].Add(n)
			}
		}
		c.failed.Add(r.Failed)
		c.filtered.Add(r.Filtered)
		c.squashed.Add(r.Squashed)
		c.retries.Add(r.Retries)
		c.left.Add(r.Left)
		c.total.Add(int64(r.Total))
	}
	return nil
}

// P50 is the median time of a hook's runs, false when it never ran.
func (m *Metrics) P50(event policy.Event, hook string) (time.Duration, bool) {
	m.settle()
	found, ok := m.hooks.Load(hookKey{event, hook})
	if !ok || found.(*counter).runs() == 0 {
		return 0, false
	}
	return found.(*counter).quantile(50), true
}

package main

import (
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/lists"
)

// benchCase is an event whose deciding is measured.
type benchCase struct {
	event *benchEvent
	// shot makes what one goroutine measures with.
	shot   func() benchShot
	rounds []benchRound
}

// benchShot is one repetition, of which only run is timed.
type benchShot struct {
	run func(context.Context) error
	// check holds what was answered against the first answer; all of it, or
	// what costs no time and no memory.
	check func(all bool) error
}

// benchRound is what one round of a case measured. Times are in nanoseconds of
// one repetition, allocations for one.
type benchRound struct {
	runs                int64
	p50, p99, max, mean float64
	perSecond           float64
	bytes, allocs       int64
}

// limits are how long a round takes: so many repetitions, or as many as begin
// within a time, one at least.
type limits struct {
	runs int64
	time time.Duration
}

// measure goes through the rounds.
func (b *bencher) measure() error {
	rounds, each := benchRounds, limits{time: b.time / benchRounds}
	if b.count > 0 {
		rounds = min(benchRounds, b.count)
		each = limits{runs: int64((b.count + rounds - 1) / rounds)}
	}
	if warmup := b.warmup; warmup > 0 && (b.count == 0 || b.warmupGiven) {
		for _, c := range b.cases {
			b.progress.say("warming up: " + c.event.title())
			if _, err := b.round(c, limits{time: warmup}, b.parallel); err != nil {
				return err
			}
		}
	}
	for i := range rounds {
		for _, c := range b.cases {
			b.progress.say(fmt.Sprintf("%s, round %d of %d", c.event.title(), i+1, rounds))
			r, err := b.round(c, each, b.parallel)
			if r.runs > 0 {
				c.rounds = append(c.rounds, r)
			}
			if err != nil {
				return err
			}
		}
		if err := b.measureHooks(each); err != nil {
			return err
		}
	}
	return nil
}

// round measures one case once. A round that is cut short counts as far as it
// went.
func (b *bencher) round(c *benchCase, each limits, n int) (benchRound, error) {
	workers := make([]*sampler, n)
	for i := range workers {
		workers[i] = &sampler{shot: c.shot()}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	if n == 1 {
		workers[0].sample(b.ctx, each)
	} else {
		var wait sync.WaitGroup
		for i, h := range workers {
			part := each
			if each.runs > 0 {
				part.runs = each.runs/int64(n) + min(1, max(0, each.runs%int64(n)-int64(i)))
			}
			wait.Go(func() { h.sample(b.ctx, part) })
		}
		wait.Wait()
	}
	elapsed := time.Since(began)
	runtime.ReadMemStats(&after)
	all := workers[0]
	for _, h := range workers[1:] {
		all.add(h)
	}
	r := all.took.summary()
	if n > 1 && r.runs > 0 {
		r.mean = float64(elapsed) / float64(r.runs)
		r.perSecond = float64(r.runs) / elapsed.Seconds()
	}
	if r.runs > 0 {
		r.bytes = int64(after.TotalAlloc-before.TotalAlloc) / r.runs
		r.allocs = int64(after.Mallocs-before.Mallocs) / r.runs
	}
	return r, all.err
}

// sampler repeats one shot.
type sampler struct {
	shot benchShot
	took latencies
	err  error
}

// sample repeats within limits, until something goes wrong or ctx ends.
func (s *sampler) sample(ctx context.Context, each limits) {
	began := time.Now()
	for n := int64(0); each.runs > 0 && n < each.runs || each.runs == 0 && each.time > 0; n++ {
		start := time.Now()
		err := s.shot.run(ctx)
		end := time.Now()
		last := each.runs == 0 && end.Sub(began) >= each.time || n+1 == each.runs
		if err == nil && ctx.Err() == nil {
			err = s.shot.check(last)
		}
		if err != nil || ctx.Err() != nil { // what the end of the benchmark cut short is no measure
			s.err = lists.First(ctx.Err(), err)
			return
		}
		s.took.note(end.Sub(start))
		if last {
			return
		}
	}
}

func (s *sampler) add(t *sampler) {
	s.took.add(&t.took)
	if s.err == nil {
		s.err = t.err
	}
}

// summary is a round of what was noted.
func (l *latencies) summary() benchRound {
	if l.n == 0 {
		return benchRound{}
	}
	r := benchRound{runs: l.n, p50: l.quantile(0.50), p99: l.quantile(0.99), max: float64(l.most), mean: float64(l.total) / float64(l.n)}
	r.perSecond = float64(time.Second) / max(r.mean, 1)
	return r
}

// latencies is a histogram with 128 buckets to a doubling, so that a quantile
// is right within 0.8 %, and noting one allocates nothing. The zero value is
// empty.
type latencies struct {
	buckets     [latencyBuckets]int32
	n           int64
	total, most time.Duration
}

const latencyBuckets = 57*128 + 128

//go:noinline
func (l *latencies) note(d time.Duration) {
	d = max(d, 0)
	l.buckets[latencyBucket(uint64(d))]++
	l.n++
	l.total += d
	l.most = max(l.most, d)
}

//go:noinline
func latencyBucket(n uint64) int {
	if n < 256 {
		return int(n)
	}
	exponent := bits.Len64(n) - 8
	return exponent*128 + int(n>>exponent)
}

// latencyOf is the middle of a bucket.
//
//go:noinline
func latencyOf(i int) float64 {
	if i < 256 {
		return float64(i)
	}
	exponent := i/128 - 1
	return (float64(i%128+128) + 0.5) * float64(uint64(1)<<exponent)
}

func (l *latencies) add(m *latencies) {
	for i, n := range m.buckets {
		l.buckets[i] += n
	}
	l.n += m.n
	l.total += m.total
	l.most = max(l.most, m.most)
}

// quantile is what a share of the samples took at most.
//
//go:noinline
func (l *latencies) quantile(share float64) float64 {
	rank := int64(share*float64(l.n) + 0.9999)
	seen := int64(0)
	for i, n := range l.buckets {
		if seen += int64(n); n > 0 && seen >= rank {
			return min(latencyOf(i), float64(l.most))
		}
	}
	return float64(l.most)
}

// median is the middle of values, of two middles their mean.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := lists.Copy(values)
	lists.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// clockCost is what a look at the clock adds to a time, in nanoseconds.
func clockCost() float64 {
	var l latencies
	for range 4096 {
		start := time.Now()
		l.note(time.Since(start))
	}
	return l.quantile(0.5)
}

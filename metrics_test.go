package hookc

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/policy"
)

// anyDuration is spread over all magnitudes.
func anyDuration(r *rand.Rand) time.Duration {
	return time.Duration(r.Int64() >> r.IntN(63))
}

func TestBucketsPartitionTheDurations(t *testing.T) {
	for b := range bucketCount {
		assert.Equal(t, b, bucket(bound(b)), "the greatest of bucket %d", b)
		if b > 0 {
			assert.Equal(t, b, bucket(bound(b-1)+1), "the least of bucket %d", b)
		}
	}
	assert.Equal(t, bucketCount-1, bucket(math.MaxInt64))
	assert.Equal(t, 0, bucket(-time.Second), "a clock that went back")
}

func TestBucketsAreExactWithin12Percent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		d := anyDuration(r)
		up := bound(bucket(d))
		require.GreaterOrEqual(t, up, d)
		require.LessOrEqual(t, float64(up-d), 0.125*float64(d), "%d", d)
	}
}

var statuses = []policy.Status{policy.StatusRan, policy.StatusFailed, policy.StatusSquashed, policy.StatusFiltered,
	policy.StatusNotStarted, policy.StatusAsync, policy.StatusDisabled}

// someRuns are reports of a few hooks on two events.
func someRuns(r *rand.Rand, n int) []executor.Run {
	out := make([]executor.Run, n)
	for i := range out {
		event := []policy.Event{policy.StopEvent, policy.PreToolExecution}[r.IntN(2)]
		out[i] = executor.Run{
			Event: event, Node: &dag.Node{Hook: &policy.Hook{Event: event, Name: string(rune('a' + r.IntN(3)))}},
			Status: statuses[r.IntN(len(statuses))], Attempts: r.IntN(4), Took: anyDuration(r) >> 8,
		}
	}
	return out
}

// expected counts what the reports say, without buckets: quantiles are the
// exact ones.
func expected(runs []executor.Run) []HookMetrics {
	type key struct {
		event policy.Event
		name  string
	}
	found, times := map[key]*HookMetrics{}, map[key][]time.Duration{}
	for _, r := range runs {
		k := key{r.Event, r.Node.Hook.Name}
		m := found[k]
		if m == nil {
			m = &HookMetrics{Event: k.event, Hook: k.name}
			found[k] = m
		}
		m.Retries += int64(max(r.Attempts-1, 0))
		switch r.Status {
		case policy.StatusFiltered:
			m.Filtered++
		case policy.StatusFailed:
			m.Failed++
		case policy.StatusSquashed:
			m.Squashed++
		case policy.StatusRan:
			m.OK++
		}
		if m.Runs = m.OK + m.Failed + m.Squashed; int(m.Runs) > len(times[k]) {
			times[k] = append(times[k], r.Took)
			m.Total += r.Took
		}
	}
	var out []HookMetrics
	for _, e := range policy.Events() {
		for _, name := range []string{"a", "b", "c"} {
			if m := found[key{e, name}]; m != nil && m.Runs+m.Filtered+m.Retries > 0 {
				m.P50, m.P95 = exact(times[key{e, name}], 50), exact(times[key{e, name}], 95)
				out = append(out, *m)
			}
		}
	}
	return out
}

// exact is the least duration that the given percentage of all do not exceed.
func exact(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)*percent+99)/100-1]
}

func counted(runs []executor.Run) *Metrics {
	m := &Metrics{}
	for _, r := range runs {
		m.count(r.Node)(r.Status, r.Attempts, r.Took)
	}
	return m
}

func TestMetricsCountEveryReport(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		runs := someRuns(r, n)
		got, want := counted(runs).List(), expected(runs)
		for i := range want {
			for _, q := range []*time.Duration{&want[i].P50, &want[i].P95} {
				*q = roundUp(*q)
			}
		}
		require.Equal(t, want, got)
	}
}

// roundUp is the precision of quantiles: the end of the bucket.
func roundUp(d time.Duration) time.Duration { return bound(bucket(d)) }

// Adding what two engines counted is counting both: for the one-shot CLI,
// whose counters live in a file.
func TestMetricsAddLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 100 {
		x, y := someRuns(r, n), someRuns(r, r.IntN(50))
		sum := &Metrics{}
		for _, part := range []*Metrics{counted(y), counted(x), {}} {
			text, err := json.Marshal(part)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, sum))
		}
		both, err := json.Marshal(counted(append(x, y...)))
		require.NoError(t, err)
		text, err := json.Marshal(sum)
		require.NoError(t, err)
		require.JSONEq(t, string(both), string(text))
		require.Equal(t, counted(append(x, y...)).List(), sum.List())
	}
}

func TestMetricsOfADamagedFileAddNothing(t *testing.T) {
	m := &Metrics{}
	require.Error(t, json.Unmarshal([]byte(`[{"event": "stop", "hook": "a", "runs": 3}, {"runs": "x"}]`), m))
	assert.Empty(t, m.List())
	require.NoError(t, json.Unmarshal([]byte(`[{"event": "stop", "hook": "a", "runs": 1, "buckets": {"-1": 5, "9999": 5, "8": 1}}]`), m))
	p50, ok := m.P50(policy.StopEvent, "a")
	assert.True(t, ok)
	assert.Equal(t, time.Duration(8), p50)
}

func TestP50OfAHookThatNeverRan(t *testing.T) {
	m := counted([]executor.Run{{Node: &dag.Node{Hook: &policy.Hook{Event: policy.StopEvent, Name: "a"}}, Status: policy.StatusFiltered}})
	_, ok := m.P50(policy.StopEvent, "a")
	assert.False(t, ok)
	_, ok = m.P50(policy.StopEvent, "b")
	assert.False(t, ok)
}

// What is read while hooks run adds up: each run has ended in one of three ways.
func TestMetricsReadWhileCountingAddUp(t *testing.T) {
	m := &Metrics{}
	node := &dag.Node{Hook: &policy.Hook{Event: policy.StopEvent, Name: "a"}}
	var done sync.WaitGroup
	for _, s := range []policy.Status{policy.StatusFailed, policy.StatusSquashed} {
		done.Go(func() {
			for range 20_000 {
				m.count(node)(s, 1, time.Microsecond)
			}
		})
	}
	for range 500 {
		for _, h := range m.List() {
			require.GreaterOrEqual(t, h.OK, int64(0))
			require.Equal(t, h.Runs, h.OK+h.Failed+h.Squashed)
		}
	}
	done.Wait()
	assert.Equal(t, HookMetrics{Event: policy.StopEvent, Hook: "a", Runs: 40_000, Failed: 20_000, Squashed: 20_000,
		Total: 40 * time.Millisecond, P50: roundUp(time.Microsecond), P95: roundUp(time.Microsecond)}, m.List()[0])
}

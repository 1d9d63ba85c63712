package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// TestLatencies: quantiles are those of the samples within 0.8 %, whatever
// their size; the maximum, the sum and the number are exact.
func TestLatencies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l, more latencies
	var all []time.Duration
	for range 20_000 {
		d := time.Duration(math.Exp(rng.Float64() * 40)) // up to days
		all = append(all, d)
		if rng.IntN(2) == 0 {
			l.note(d)
		} else {
			more.note(d)
		}
	}
	l.add(&more)
	slices.Sort(all)
	total := time.Duration(0)
	for _, d := range all {
		total += d
	}
	assert.Equal(t, []any{int64(20_000), total, all[len(all)-1]}, []any{l.n, l.total, l.most})
	for _, share := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
		want := float64(all[int(share*20_000)-1])
		assert.InEpsilon(t, want, l.quantile(share), 0.008, share)
	}
	l = latencies{}
	for _, d := range []time.Duration{-5, 0, 1, 255, 256, math.MaxInt64} {
		l.note(d)
	}
	assert.Equal(t, []float64{0, 1, 255}, []float64{l.quantile(0.3), l.quantile(0.5), l.quantile(0.6)})
	assert.InEpsilon(t, math.MaxInt64, l.quantile(1), 0.008)
	var one latencies
	one.note(1001)
	assert.Equal(t, benchRound{runs: 1, p50: one.quantile(0.5), p99: one.quantile(0.5), max: 1001, mean: 1001, perSecond: 1e9 / 1001}, one.summary())
	assert.LessOrEqual(t, one.quantile(1), 1001.0, "no quantile is beyond the maximum")
	assert.Equal(t, benchRound{}, (&latencies{}).summary())
}

func TestMedian(t *testing.T) {
	assert.Equal(t, []float64{0, 3, 2.5, 2}, []float64{median(nil), median([]float64{3}), median([]float64{4, 1, 2, 3}), median([]float64{9, 2, 1})})
}

// TestSampler: what limits say is done, and what goes wrong ends it.
func TestSampler(t *testing.T) {
	runs, checks, whole := 0, 0, 0
	shot := benchShot{
		run: func(context.Context) error { runs++; return nil },
		check: func(all bool) error {
			checks++
			if all {
				whole++
			}
			return nil
		},
	}
	s := &sampler{shot: shot}
	s.sample(t.Context(), limits{runs: 7})
	assert.Equal(t, []any{7, 7, 1, int64(7), nil}, []any{runs, checks, whole, s.took.n, s.err}, "the last answer is compared as a whole")
	s = &sampler{shot: shot}
	s.sample(t.Context(), limits{time: 1})
	assert.Equal(t, []any{8, 2, int64(1), nil}, []any{runs, whole, s.took.n, s.err}, "one at least")
	s = &sampler{shot: shot}
	s.sample(t.Context(), limits{})
	assert.Equal(t, 8, runs, "nobody's share is nothing")
	wrong := errors.New("another answer")
	s = &sampler{shot: benchShot{run: shot.run, check: func(bool) error { return wrong }}}
	s.sample(t.Context(), limits{runs: 7})
	assert.Equal(t, []any{9, int64(0), wrong}, []any{runs, s.took.n, s.err})
	ctx, cancel := context.WithCancel(t.Context())
	s = &sampler{shot: benchShot{run: func(context.Context) error { cancel(); return wrong }, check: shot.check}}
	s.sample(ctx, limits{runs: 7})
	assert.Equal(t, []any{int64(0), context.Canceled}, []any{s.took.n, s.err}, "what is cut short is no measure")
}

// TestRoundParallel: the repetitions are shared out, all of them.
func TestRoundParallel(t *testing.T) {
	b := &bencher{benchFlags: &benchFlags{parallel: 4}, ctx: t.Context()}
	for _, n := range []int64{1, 3, 4, 10} {
		shots := 0
		c := &benchCase{shot: func() benchShot {
			shots++
			return benchShot{run: func(context.Context) error { return nil }, check: func(bool) error { return nil }}
		}}
		r, err := b.round(c, limits{runs: n}, b.parallel)
		require.NoError(t, err)
		assert.Equal(t, []any{n, 4}, []any{r.runs, shots}, n)
	}
}

func TestBenchNames(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	name := benchName([]string{"Plan", "stop", "", "two words\t#2", "a\x01b", "deny/§"})
	name, _, _ = strings.Cut(name, "-")
	assert.Equal(t, `Plan/stop/two_words_#2/a\x01b/deny/§`, name)
	for n, want := range map[float64]string{0: "0.000", 0.5: "0.500", 9.1234: "9.123", 12.345: "12.35", 123.45: "123.5", 1234.5: "1234", 2.5e9: "2500000000"} {
		assert.Equal(t, want, benchFigure(n), n)
	}
}

// TestWithFolder: a folder is written into the text and nothing else changes.
func TestWithFolder(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                          `{"cwd":"/a \"b\""}`,
		" {\n} ":                      " {\"cwd\":\"/a \\\"b\\\"\"\n} ",
		`{"event" : "stop",  "x":{}}`: `{"cwd":"/a \"b\"","event" : "stop",  "x":{}}`,
	} {
		got, err := withFolder([]byte(text), `/a "b"`)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
		_, err = policy.DecodeJSON(got)
		assert.NoError(t, err)
	}
}

// TestBenchEnviron: neither bench's own flags nor the user's state reach what
// is measured.
func TestBenchEnviron(t *testing.T) {
	got := benchEnviron([]string{"A=1", "HOOKC_BENCH_TIME=1s", "HOOKC_RUN_SERIAL=true", "HOOKC_DEBUG=f", "HOOKC_CANARY=x", "HOOKC_ENABLED=0", "XDG_STATE_HOME=/s"}, "/h")
	assert.Equal(t, []string{"A=1", "HOOKC_ENABLED=0", "XDG_STATE_HOME=" + "/h"}, got)
}

// TestBenchProgress: nothing is written but to a terminal.
func TestBenchProgress(t *testing.T) {
	var out bytes.Buffer
	p := newBenchProgress(&out)
	p.say("measuring")
	p.stop()
	p.stop()
	assert.Empty(t, out.String())
}

// TestBenchDiffers: an engine that decides otherwise than the first time is
// found by the cheap look and by the thorough one.
func TestBenchDiffers(t *testing.T) {
	e := &benchEvent{event: policy.StopEvent, want: &policy.Decision{Event: policy.StopEvent, Action: policy.Proceed, Reasons: []string{"a"}}}
	e.same = observable(e.want)
	same := *e.want
	same.Hooks = []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: "x"}, Micros: 5}}
	same.Policy = "sha256:other"
	assert.NoError(t, e.check(&same, "here", true), "times and hashes are no part of it")
	other := *e.want
	other.Reasons = []string{"b"}
	assert.NoError(t, e.check(&other, "here", false))
	other.Reasons = []string{"b", "c"}
	for _, d := range []*policy.Decision{&other, {Event: policy.StopEvent, Action: policy.Block, Reasons: []string{"a"}}} {
		var exit exitError
		require.ErrorAs(t, e.check(d, "here", false), &exit)
		assert.Equal(t, exitFindings, exit.Code)
	}
	more := *e.want
	more.Feedback = []string{"new"}
	assert.Error(t, e.check(&more, "here", true), "what was not there before")
}

// TestBenchWords: -f says how to print or names a policy, never both.
func TestBenchWords(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", nil, 0o600))
	var said bytes.Buffer
	f := &benchFlags{}
	f.Files, f.how, f.parallel, f.time = []string{"text", "./text", "user=json"}, howInProcess, 1, time.Second
	cmd := newBench()
	cmd.SetErr(&said)
	require.NoError(t, f.check(cmd))
	assert.Equal(t, []any{"text", []string{"./text", "user=json"}}, []any{f.output, f.Files})
	assert.Contains(t, said.String(), "./text")
}

// Package simulation runs a fleet in virtual time: OPA's own downloader of each node,
// with its delays and its backing off, against servers that count.
package simulation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-policy-agent/opa/v1/download"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/plugins/rest"
	"github.com/open-policy-agent/opa/v1/util"
	"github.com/stretchr/testify/require"
)

// The hours of the simulation.
const (
	published = 20 * time.Minute // a new revision is there
	gone      = 40 * time.Minute // every server goes away
	back      = gone + time.Hour
	end       = back + 20*time.Minute
)

// Delays of OPA's plugins where a configuration says nothing; retrying begins at
// the least and doubles up to the most.
const (
	logsLeast, logsMost = 300 * time.Second, 600 * time.Second
	retryLeast          = 100 * time.Millisecond
)

// series counts what happens in each second.
type series struct {
	requests, bytes []int64
	begun           time.Time
}

func newSeries(begun time.Time) *series {
	n := int(end/time.Second) + 2
	return &series{make([]int64, n), make([]int64, n), begun}
}

func (s *series) add(requests, bytes int) {
	if i := int(time.Since(s.begun) / time.Second); i < len(s.requests) {
		atomic.AddInt64(&s.requests[i], int64(requests))
		atomic.AddInt64(&s.bytes[i], int64(bytes))
	}
}

// load is a series between two times.
type load struct{ mean, peak, meanBytes, peakBytes float64 }

func (s *series) between(from, to time.Duration) (l load) {
	for i := int(from / time.Second); i < int(to/time.Second); i++ {
		l.mean += float64(s.requests[i])
		l.meanBytes += float64(s.bytes[i])
		l.peak = max(l.peak, float64(s.requests[i]))
		l.peakBytes = max(l.peakBytes, float64(s.bytes[i]))
	}
	n := float64((to - from) / time.Second)
	l.mean, l.meanBytes = l.mean/n, l.meanBytes/n
	return l
}

// fleet is what is simulated.
type fleet struct {
	sizes          sizes
	bundles, tries *series // what the bundle server answers, and what is tried in vain
	logs           *series
	mu             sync.Mutex
	body           []byte
	etag           string
	away           bool
}

// RoundTrip is the bundle server.
func (f *fleet) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		f.tries.add(1, 0)
		return nil, errors.New("connection refused")
	}
	answer := &http.Response{StatusCode: http.StatusNotModified, Header: http.Header{"Etag": {f.etag}}, Body: http.NoBody, Request: r}
	if r.Header.Get("If-None-Match") == f.etag {
		f.bundles.add(1, f.sizes.unchanged)
		return answer, nil
	}
	f.bundles.add(1, f.sizes.unchanged+f.sizes.weight)
	answer.StatusCode, answer.Body = http.StatusOK, io.NopCloser(bytes.NewReader(f.body))
	return answer, nil
}

// NewClient and Prepare have OPA's client ask the fleet's server.
func (f *fleet) NewClient(rest.Config) (*http.Client, error) { return &http.Client{Transport: f}, nil }
func (f *fleet) Prepare(*http.Request) error                 { return nil }

// node is one machine: what it runs, and when each revision came.
type node struct {
	loader   *download.Downloader
	revision atomic.Value
	second   atomic.Int64 // when the second revision was there, since the beginning
	polls    atomic.Int64 // how many answers it had since that revision was published
}

func (f *fleet) node(t *testing.T, begun time.Time) *node {
	n := &node{}
	client, err := rest.New([]byte(`{"name":"s","url":"http://server","credentials":{"plugin":"virtual"}}`), nil,
		rest.AuthPluginLookup(func(string) rest.HTTPAuthPlugin { return f }), rest.Logger(logging.NewNoOpLogger()))
	require.NoError(t, err)
	var config download.Config
	require.NoError(t, config.ValidateAndInjectDefaults())
	n.loader = download.New(config, client, "bundle.tar.gz").WithCallback(func(_ context.Context, u download.Update) error {
		if u.Error != nil {
			return nil // the downloader backs off by itself
		}
		since := time.Since(begun)
		if since > published && n.second.Load() == 0 {
			n.polls.Add(1)
		}
		if u.Bundle != nil {
			n.revision.Store(u.Bundle.Manifest.Revision)
			if u.Bundle.Manifest.Revision == "v2" {
				n.second.CompareAndSwap(0, int64(since))
			}
		}
		return nil
	})
	return n
}

// ship sends the record of decisions on: a chunk of at most 32 kB in each request, the
// rest at once after it. What is not taken stays in the record on the disk.
func (f *fleet) ship(ctx context.Context, perMinute float64) {
	sent, retry := time.Now(), 0
	delay := func() time.Duration { return logsLeast + time.Duration(rand.Float64()*float64(logsMost-logsLeast)) }
	wait := delay()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		f.mu.Lock()
		away := f.away
		f.mu.Unlock()
		if away {
			wait = util.DefaultBackoff(float64(retryLeast), float64(logsMost), retry)
			retry++
			continue
		}
		bytes := int(time.Since(sent).Minutes() * perMinute * f.sizes.event)
		f.logs.add(bytes/uploadLimit+1, bytes+(bytes/uploadLimit+1)*f.sizes.header)
		sent, retry, wait = time.Now(), 0, delay()
	}
}

// simulate runs so many nodes, which decide so often a minute.
func simulate(t *testing.T, many int, perMinute float64, z sizes) (f *fleet, nodes []*node) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		f = &fleet{sizes: z, bundles: newSeries(begun), tries: newSeries(begun), logs: newSeries(begun), body: z.first, etag: `"1"`}
		ctx, stop := context.WithCancel(t.Context())
		var shipping sync.WaitGroup
		for range many {
			n := f.node(t, begun)
			nodes = append(nodes, n)
			n.loader.Start(ctx)
			shipping.Go(func() { f.ship(ctx, perMinute/float64(many)) })
		}
		set := func(at time.Duration, change func()) {
			time.Sleep(at - time.Since(begun))
			f.mu.Lock()
			defer f.mu.Unlock()
			change()
		}
		set(published, func() { f.body, f.etag = z.second, `"2"` })
		set(gone, func() { f.away = true })
		set(back, func() { f.away = false })
		set(end, func() {})
		stop()
		for _, n := range nodes {
			n.loader.Stop(t.Context())
		}
		shipping.Wait()
	})
	return f, nodes
}

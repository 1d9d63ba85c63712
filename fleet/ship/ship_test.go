package ship

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/discovery"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/ship/shiptest"
	"github.com/hookc/hookc/internal/decisionlog"
)

func short(i int) string { return fmt.Sprintf("echo %d", i) }

// sink is a service for decision logs. It takes what it is sent unless wrong says so.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	events []map[string]any
	wrong  atomic.Int64
	asked  atomic.Int64
}

func newSink(t *testing.T) *sink {
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		if s.wrong.Add(-1) >= 0 {
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		z, err := gzip.NewReader(r.Body)
		if !assert.NoError(t, err) {
			return
		}
		text, err := io.ReadAll(z)
		assert.NoError(t, err)
		var events []map[string]any
		assert.NoError(t, json.Unmarshal(text, &events))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, events...)
	}))
	t.Cleanup(s.Close)
	return s
}

// sessions are those of what arrived: how often each did.
func (s *sink) sessions() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for _, e := range s.events {
		out[e["custom"].(map[string]any)["hookc"].(map[string]any)["session_id"].(string)]++
	}
	return out
}

// shipping is a shipper by OPA's plugin, as a configuration says.
func shipping(t *testing.T, cursor, dir, config string) (*Shipper, *OPA) {
	t.Helper()
	refused := new(atomic.Int64)
	m, err := plugins.New([]byte(config), "machine-1", inmem.New(), plugins.Logger(Counting(logging.NewNoOpLogger(), refused)))
	require.NoError(t, err)
	found, err := discovery.New(m)
	require.NoError(t, err)
	m.Register(discovery.Name, found)
	require.NoError(t, m.Start(t.Context()))
	t.Cleanup(func() { m.Stop(context.Background()) })
	o := NewOPA(m, refused)
	return &Shipper{Sink: o, Cursor: cursor, Logs: func() []Log { return []Log{{"ann", dir}} }, Delay: o.Delay, Say: func(format string, args ...any) { t.Logf(format, args...) }}, o
}

func configured(s *sink, more string) string {
	return fmt.Sprintf("services: {logs: {url: %s}}\nlabels: {team: payments}\ndecision_logs: {service: logs, reporting: {min_delay_seconds: 0, max_delay_seconds: 1%s}}", s.URL, more)
}

// TestShips: each decision of the record reaches the service once, with the words of
// OPA's decision log, whatever the service answers in between; a process that begins
// where another ended goes on behind it.
func TestShips(t *testing.T) {
	s, dir, cursor := newSink(t), t.TempDir(), filepath.Join(t.TempDir(), "cursor.json")
	shiptest.Record(t, dir, 0, 300, short)
	s.wrong.Store(3)
	ships, _ := shipping(t, cursor, dir, configured(s, ""))
	shiptest.Until(t, ships, "all are there", func() bool { return ships.Counts().Shipped == 300 })
	assert.EqualValues(t, 3, ships.Counts().Failed)
	shiptest.Record(t, dir, 300, 400, short)
	again, _ := shipping(t, cursor, dir, configured(s, ""))
	shiptest.Until(t, again, "the rest is there", func() bool { return again.Counts().Shipped == 100 })
	got := s.sessions()
	for i := range 400 {
		require.Equal(t, 1, got[strconv.Itoa(i)], "%d", i)
	}
	first := s.events[0]
	assert.Equal(t, "pre_tool_execution", first["path"])
	assert.Equal(t, map[string]any{"id": "machine-1", "team": "payments", "version": first["labels"].(map[string]any)["version"]}, first["labels"])
	assert.Equal(t, map[string]any{"command": "echo 0"}, first["input"].(map[string]any)["tool_input"])
	assert.Equal(t, "block", first["result"].(map[string]any)["action"])
	assert.Equal(t, "ann", first["custom"].(map[string]any)["hookc"].(map[string]any)["user"])
	entry, err := decisionlog.Find(dir, first["decision_id"].(string))
	require.NoError(t, err)
	assert.Equal(t, "0", entry.Session)
}

// TestNothingIsLost: a shipper that ends at any moment, and a cursor that was not
// written, make entries arrive again and never not at all.
func TestNothingIsLost(t *testing.T) {
	s, dir, cursor := newSink(t), t.TempDir(), filepath.Join(t.TempDir(), "cursor.json")
	for round := range 8 {
		shiptest.Record(t, dir, round*50, round*50+50, short)
		s.wrong.Store(int64(round % 3))
		ships, _ := shipping(t, cursor, dir, configured(s, ""))
		ctx, stop := context.WithCancel(t.Context())
		before := s.asked.Load()
		done := make(chan struct{})
		go func() { defer close(done); ships.Run(ctx, 0) }()
		for s.asked.Load() == before {
			time.Sleep(time.Millisecond)
		}
		stop() // while it is being sent, and before the cursor is written, or after
		<-done
		if round == 5 {
			require.NoError(t, os.WriteFile(cursor, []byte(`{"half`), 0o600))
		}
	}
	last, _ := shipping(t, cursor, dir, configured(s, ""))
	shiptest.Until(t, last, "all are there", func() bool { return len(s.sessions()) == 400 })
}

// TestBounds: what is in memory is bounded however long the service is away; what the
// record's own bounds take away meanwhile is counted, and so is what is too large.
func TestBounds(t *testing.T) {
	s, dir := newSink(t), t.TempDir()
	shiptest.Record(t, dir, 0, 2*maxEntries+10, short)
	s.wrong.Store(1 << 40)
	ships, _ := shipping(t, filepath.Join(t.TempDir(), "cursor.json"), dir, configured(s, ""))
	shiptest.Until(t, ships, "some tries", func() bool { return ships.Counts().Failed > 2 })
	require.Len(t, ships.pending, 1)
	assert.Len(t, ships.pending[0].list, maxEntries)
	assert.Contains(t, ships.Counts().Error, "503")
	require.NoError(t, decisionlog.Prune(dir, decisionlog.Options{KeepSize: 1}))
	s.wrong.Store(0)
	shiptest.Until(t, ships, "what is left is there", func() bool { c := ships.Counts(); return c.Missing+c.Shipped >= 2*maxEntries+10 })
	c := ships.Counts()
	assert.NotZero(t, c.Missing)
	assert.Len(t, s.sessions(), int(c.Shipped))
	assert.Empty(t, c.Error)

	shiptest.Record(t, dir, 5000, 5003, func(i int) string {
		if i == 5001 {
			var b strings.Builder
			random := rand.New(rand.NewPCG(1, 2))
			for j := range 80_000 { // does not compress
				b.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789  "[random.IntN(38)])
				if j%7 == 0 {
					b.WriteByte(' ')
				}
			}
			return b.String()
		}
		return strings.Repeat("z", 300<<10) // does
	})
	shiptest.Until(t, ships, "all three are there", func() bool {
		all := s.sessions()
		return all["5000"] == 1 && all["5001"] == 1 && all["5002"] == 1
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events[len(s.events)-3:] {
		own := e["custom"].(map[string]any)["hookc"].(map[string]any)
		input := e["input"].(map[string]any)
		assert.Equal(t, own["session_id"] != "5001", input["tool_input"] != nil, own["session_id"])
		assert.Equal(t, "block", e["result"].(map[string]any)["action"])
	}
}

// TestMasks: secrets are masked before anything leaves, and so is what a mask of OPA's in
// a bundle names; an entry whose mask fails stays in the machine and is counted.
func TestMasks(t *testing.T) {
	const mask = `package system.log

mask := ["/input/tool_name"]

mask := ["/input"] if input.input.session_id == "1"
`
	var packed bytes.Buffer
	require.NoError(t, bundle.Write(&packed, bundle.Bundle{Manifest: bundle.Manifest{Revision: "m", Roots: &[]string{"system"}}, Data: map[string]any{},
		Modules: []bundle.ModuleFile{{URL: "/mask.rego", Path: "/mask.rego", Raw: []byte(mask), Parsed: ast.MustParseModule(mask)}}}))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(packed.Bytes()) }))
	t.Cleanup(web.Close)
	s, dir := newSink(t), t.TempDir()
	shiptest.Record(t, dir, 0, 3, func(int) string { return "git clone https://ghp_9aB3dE5fG7hJ1kL2mN4pQ6rS8tU0vW1xY2zA@github.com/a/b" })
	config := strings.Replace(configured(s, ""), "services: {", "services: {web: {url: "+web.URL+"}, ", 1) + "\nbundles: {m: {service: web, resource: b}}"
	ships, o := shipping(t, filepath.Join(t.TempDir(), "cursor.json"), dir, config)
	for end := time.Now().Add(time.Minute); o.manager.PluginStatus()["bundle"].State != plugins.StateOK; time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "the bundle does not come")
	}
	shiptest.Until(t, ships, "two are there, one is not", func() bool { c := ships.Counts(); return c.Shipped == 2 && c.Refused == 1 })
	got := s.sessions()
	assert.Equal(t, map[string]int{"0": 1, "2": 1}, got)
	text, err := json.Marshal(s.events)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "ghp_9aB3dE5fG7")
	for _, e := range s.events {
		assert.NotContains(t, e["input"], "tool_name")
		assert.Equal(t, []any{"/input/tool_name"}, e["erased"])
	}
}

// TestSinkOfAnotherKind: a list that a sink did not take is handed over again as it was,
// and the cursor stays until then.
func TestSinkOfAnotherKind(t *testing.T) {
	dir, cursor := t.TempDir(), filepath.Join(t.TempDir(), "cursor.json")
	shiptest.Record(t, dir, 0, 5, short)
	var lists [][]Decision
	to := sinkFunc(func(list []Decision) error {
		lists = append(lists, list)
		if len(lists) < 3 {
			_, err := os.Stat(cursor)
			assert.True(t, errors.Is(err, os.ErrNotExist))
			return errors.New("not now")
		}
		return nil
	})
	ships := &Shipper{Sink: to, Cursor: cursor, Logs: func() []Log { return []Log{{"ann", dir}} }, Say: t.Logf, Delay: func() (a, b time.Duration) { return 0, time.Second }}
	shiptest.Until(t, ships, "it is taken", func() bool { return ships.Counts().Shipped == 5 })
	require.Len(t, lists, 3)
	assert.Equal(t, lists[0], lists[2])
}

type sinkFunc func(list []Decision) error

func (f sinkFunc) Ship(_ context.Context, list []Decision) error { return f(list) }

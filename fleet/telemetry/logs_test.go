package telemetry

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	logs1 "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hookc/hookc/fleet/ship"
	"github.com/hookc/hookc/fleet/ship/shiptest"
	"github.com/hookc/hookc/internal/decisionlog"
)

// logSink takes logs by OTLP and decodes them by the protocol's own code.
type logSink struct {
	mu      sync.Mutex
	records []*logs1.LogRecord
	service string
	asked   int
	// most is the largest request that is taken, in bytes; refuse answers instead where it
	// reports true.
	most   int
	refuse func(w http.ResponseWriter, asked int) bool
}

func (s *logSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	text, err := io.ReadAll(r.Body)
	var m collectorlogs.ExportLogsServiceRequest
	switch {
	case s.refuse != nil && s.refuse(w, s.asked):
		return
	case s.most > 0 && len(text) > s.most:
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	case r.URL.Path != "/v1/logs" || err != nil || proto.Unmarshal(text, &m) != nil:
		http.Error(w, "no logs", http.StatusBadRequest)
		return
	}
	for _, of := range m.ResourceLogs {
		s.service = valueOf(of.Resource.Attributes, "service.name")
		for _, by := range of.ScopeLogs {
			s.records = append(s.records, by.LogRecords...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// shipped is what became of a record of n decisions that was shipped to a collector until
// ok holds.
func shipped(t *testing.T, s *logSink, n int, command func(i int) string, ok func(c ship.Counts) bool) (dir string, c ship.Counts) {
	t.Helper()
	collecting(t, s.ServeHTTP)
	t.Setenv("OTEL_LOGS_EXPORTER", "otlp")
	l, err := OpenLogs(t.Context(), "v1")
	require.NoError(t, err)
	dir = t.TempDir()
	shiptest.Record(t, dir, 0, n, command)
	by := &ship.Shipper{Sink: l, Cursor: filepath.Join(t.TempDir(), "cursor.json"), Logs: func() []ship.Log { return []ship.Log{{User: "ann", Dir: dir}} },
		Say: t.Logf, Delay: func() (a, b time.Duration) { return 0, time.Millisecond }}
	shiptest.Until(t, by, "all arrived", func() bool { return ok(by.Counts()) })
	require.NoError(t, l.Close())
	return dir, by.Counts()
}

// sessions says how often the entry of each session arrived.
func (s *logSink) sessions(t *testing.T) map[string]int {
	out := map[string]int{}
	for _, r := range s.records {
		var e decisionlog.Entry
		require.NoError(t, json.Unmarshal([]byte(r.Body.GetStringValue()), &e))
		assert.Equal(t, e.Session, valueOf(r.Attributes, "session.id"))
		out[e.Session]++
	}
	return out
}

func echo(i int) string { return "echo " + strconv.Itoa(i) }

// TestLogs: each entry of the record reaches a collector once, as a log record with the
// entry as its text, whatever the collector answers in between.
func TestLogs(t *testing.T) {
	s := &logSink{refuse: func(w http.ResponseWriter, asked int) bool {
		if asked > 2 {
			return false
		}
		http.Error(w, "not now", http.StatusBadRequest)
		return true
	}}
	dir, c := shipped(t, s, 300, echo, func(c ship.Counts) bool { return c.Shipped == 300 })
	assert.EqualValues(t, 2, c.Failed)
	got := s.sessions(t)
	for i := range 300 {
		require.Equal(t, 1, got[strconv.Itoa(i)], "%d", i)
	}
	assert.Equal(t, "hookcd", s.service)
	first := s.records[0]
	assert.Equal(t, "hookc.decision", first.EventName)
	assert.Equal(t, "block", valueOf(first.Attributes, "hookc.action"))
	assert.Equal(t, "ann", valueOf(first.Attributes, "user.name"))
	entry, err := decisionlog.Find(dir, valueOf(first.Attributes, "hookc.decision.id"))
	require.NoError(t, err)
	text, err := json.Marshal(entry)
	require.NoError(t, err)
	assert.JSONEq(t, string(text), first.Body.GetStringValue())
}

// TestLogsTooLarge: what a collector finds too large reaches it in parts, and an entry
// that is too large alone without what the call said; what is too large even so is counted.
func TestLogsTooLarge(t *testing.T) {
	long := func(i int) string {
		if i == 7 {
			return strings.Repeat("z", 50_000)
		}
		return echo(i)
	}
	s := &logSink{most: 20_000}
	_, c := shipped(t, s, 100, long, func(c ship.Counts) bool { return c.Shipped == 100 })
	assert.Zero(t, c.Refused)
	assert.Len(t, s.sessions(t), 100)
	cut := 0
	for _, r := range s.records {
		if valueOf(r.Attributes, "hookc.cut") != "" {
			assert.Equal(t, "7", valueOf(r.Attributes, "session.id"))
			cut++
		}
	}
	assert.Equal(t, 1, cut)

	s = &logSink{most: 100, refuse: func(w http.ResponseWriter, asked int) bool {
		if asked != 8 { // after some were rejected: the list comes again whole
			return false
		}
		http.Error(w, "not now", http.StatusBadRequest)
		return true
	}}
	_, c = shipped(t, s, 5, echo, func(c ship.Counts) bool { return c.Refused == 5 })
	assert.Zero(t, c.Shipped)
	assert.EqualValues(t, 1, c.Failed)
	assert.Empty(t, s.records)
}

// TestLogsPartly: what a collector rejects for good is counted, and the rest is not sent
// again.
func TestLogsPartly(t *testing.T) {
	s := &logSink{}
	s.refuse = func(w http.ResponseWriter, _ int) bool {
		text, err := proto.Marshal(&collectorlogs.ExportLogsServiceResponse{PartialSuccess: &collectorlogs.ExportLogsPartialSuccess{RejectedLogRecords: 3, ErrorMessage: "a\nb"}})
		assert.NoError(t, err)
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.Write(text)
		return true
	}
	_, c := shipped(t, s, 10, echo, func(c ship.Counts) bool { return c.Shipped+c.Refused == 10 })
	assert.EqualValues(t, 3, c.Refused)
	assert.Equal(t, 1, s.asked)
	assert.Zero(t, c.Failed)
}

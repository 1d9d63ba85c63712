package records

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/fleet/jetstream/natstest"
	"github.com/hookc/hookc/fleet/ship"
	"github.com/hookc/hookc/fleet/ship/shiptest"
	"github.com/hookc/hookc/internal/decisionlog"
)

// shipping is a shipper of the record in dir over a connection.
func shipping(t *testing.T, l *link.Link, dir string) *ship.Shipper {
	t.Helper()
	return &ship.Shipper{Sink: New(l, "machine-1"), Cursor: filepath.Join(dir, "cursor.json"), Logs: func() []ship.Log { return []ship.Log{{User: "ann", Dir: dir}} },
		Say: t.Logf, Delay: func() (a, b time.Duration) { return 0, 10 * time.Millisecond }}
}

// read is all that the stream holds, by session.
func read(t *testing.T, l *link.Link) map[string][]*jetstream.RawStreamMsg {
	t.Helper()
	var stream jetstream.Stream
	natstest.Until(t, "the stream has a leader", func() (ok bool) {
		var err error
		stream, err = l.JS.Stream(t.Context(), Stream) // with what it knows of itself
		return err == nil
	})
	out := map[string][]*jetstream.RawStreamMsg{}
	state := stream.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		var m *jetstream.RawStreamMsg
		natstest.Until(t, "a message", func() (ok bool) {
			var err error
			m, err = stream.GetMsg(t.Context(), seq)
			return err == nil
		})
		var e decisionlog.Entry
		require.NoError(t, json.Unmarshal(m.Data, &e))
		out[e.Session] = append(out[e.Session], m)
	}
	return out
}

func echo(i int) string { return "echo " + strconv.Itoa(i) }

// TestShips: entries are shipped while two of three servers keep them, and stay in the
// record while fewer do.
func TestShips(t *testing.T) {
	c := natstest.Start(t)
	l, dir := c.Link(), t.TempDir()
	by := shipping(t, l, dir)
	shiptest.Record(t, dir, 0, 300, echo)
	shiptest.Until(t, by, "the first are there", func() bool { return by.Counts().Shipped == 300 })
	for i := range 3 {
		if i == 1 {
			c.Kill(i)
		} else {
			defer c.Hang(i)()
		}
		shiptest.Record(t, dir, 300+100*i, 400+100*i, echo)
		if i == 0 { // two of three are left
			shiptest.Until(t, by, "two servers keep more", func() bool { return by.Counts().Shipped == 400 })
		} else {
			shiptest.Until(t, by, "nothing is kept by less", func() bool { return by.Counts().Error != "" })
		}
	}
	assert.EqualValues(t, 400, by.Counts().Shipped)
	assert.NotEmpty(t, by.Counts().Error)
}

// TestHeals: through a leaf node too, what waited on the disk is in the stream once when
// most servers are back, as it is in the record, and also where a shipper begins again on
// no cursor. What is too large for a message goes without its input.
func TestHeals(t *testing.T) {
	c := natstest.Start(t)
	dir := t.TempDir()
	by := shipping(t, c.LinkByLeaf(), dir)
	shiptest.Record(t, dir, 0, 50, echo)
	shiptest.Until(t, by, "the first are there", func() bool { return by.Counts().Shipped == 50 })
	c.Kill(0)
	c.Kill(1)
	shiptest.Record(t, dir, 50, 100, echo)
	shiptest.Until(t, by, "nothing is kept by one server", func() bool { return by.Counts().Failed > 0 })
	c.Up(0)
	c.Up(1)
	shiptest.Until(t, by, "all are there", func() bool { return by.Counts().Shipped == 100 })
	again := shipping(t, c.Link(), dir)
	again.Cursor = filepath.Join(t.TempDir(), "cursor.json")
	shiptest.Until(t, again, "all were sent again", func() bool { return again.Counts().Shipped == 100 })

	l := c.Link()
	natstest.Until(t, "a connection", l.Conn.IsConnected)
	got := read(t, l)
	for i := range 100 {
		require.Len(t, got[strconv.Itoa(i)], 1, "%d", i)
	}
	first := got["0"][0]
	entry, err := decisionlog.Find(dir, first.Header.Get("Nats-Msg-Id"))
	require.NoError(t, err)
	text, err := json.Marshal(entry)
	require.NoError(t, err)
	assert.JSONEq(t, string(text), string(first.Data))
	assert.Equal(t, "hookc.log.pre_tool_execution.block", first.Subject)
	assert.Equal(t, "machine-1", first.Header.Get(HeaderMachine))
	assert.Equal(t, "ann", first.Header.Get(HeaderUser))

	shiptest.Record(t, dir, 100, 101, func(int) string { return strings.Repeat("z", 2<<20) })
	shiptest.Until(t, by, "the large one is there", func() bool { return by.Counts().Shipped == 101 })
	large := read(t, l)["100"]
	require.Len(t, large, 1)
	assert.NotEmpty(t, large[0].Header.Get(HeaderCut))
	assert.Less(t, len(large[0].Data), 2000)
}

// TestOwnStream: a stream that is there is used as it is. What finds no room in it waits
// on the disk; what is larger than it allows is counted.
func TestOwnStream(t *testing.T) {
	c := natstest.Start(t)
	l, dir := c.Link(), t.TempDir()
	config := jetstream.StreamConfig{Name: Stream, Subjects: []string{"hookc.log.>"}, Storage: jetstream.FileStorage, Replicas: 3, MaxMsgs: 20, Discard: jetstream.DiscardNew}
	stream, err := l.JS.CreateStream(t.Context(), config)
	require.NoError(t, err)
	by := shipping(t, l, dir)
	shiptest.Record(t, dir, 0, 30, echo)
	shiptest.Until(t, by, "the stream is full", func() bool { return by.Counts().Failed > 1 })
	assert.Contains(t, by.Counts().Error, "maximum messages exceeded")
	assert.Zero(t, by.Counts().Shipped)
	config.MaxMsgs = 1000
	update(t, l, config)
	shiptest.Until(t, by, "all are there", func() bool { return by.Counts().Shipped == 30 })
	assert.Len(t, read(t, l), 30)

	natstest.Until(t, "a purge", func() bool { return stream.Purge(t.Context()) == nil })
	config.MaxMsgSize = 300
	update(t, l, config)
	shiptest.Record(t, dir, 30, 33, echo)
	shiptest.Until(t, by, "they are counted", func() bool { return by.Counts().Refused == 3 })
	assert.EqualValues(t, 30, by.Counts().Shipped)
	assert.Empty(t, by.Counts().Error)
}

func update(t *testing.T, l *link.Link, config jetstream.StreamConfig) {
	t.Helper()
	natstest.Until(t, "the stream has other bounds", func() bool {
		_, err := l.JS.UpdateStream(t.Context(), config)
		return err == nil
	})
}

// TestToken: whatever an event and an action are called, a subject has four parts.
func TestToken(t *testing.T) {
	for text, want := range map[string]string{"": "none", "pre_tool-1": "pre_tool-1", "a.b *>c": "a_b___c", "é\n": "__"} {
		assert.Equal(t, want, token(text), "%q", text)
	}
}

package queue

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/jetstream/natstest"
	"github.com/hookc/hookc/internal/decide"
)

// TestUnmarkedRunsOnce: what has run here while JetStream took no mark of it comes again,
// and is marked and not run.
func TestUnmarkedRunsOnce(t *testing.T) {
	var runs atomic.Int64
	q := open(t, Options{Dir: filepath.Join(t.TempDir(), "q"), Machine: "m", Run: func(context.Context, *decide.HandOver) error { runs.Add(1); return nil }})
	q.unmarked.Store("one", true)
	require.NoError(t, q.Put(t.Context(), item("one")))
	natstest.Until(t, "it is marked", func() bool { ran, err := q.local.ran(t.Context(), "one"); return err == nil && ran })
	natstest.Until(t, "it is forgotten then", func() bool { _, kept := q.unmarked.Load("one"); return !kept })
	assert.Zero(t, runs.Load())
	q.Close()
}

// TestMarksAreReadFromTheLeader: a server that is behind does not say that nothing ran.
func TestMarksAreReadFromTheLeader(t *testing.T) {
	q := open(t, Options{Dir: filepath.Join(t.TempDir(), "q"), Machine: "m", Run: func(context.Context, *decide.HandOver) error { return nil }})
	defer q.Close()
	s, err := q.local.JS.Stream(t.Context(), "KV_"+doneBucket)
	require.NoError(t, err)
	assert.False(t, s.CachedInfo().Config.AllowDirect)
}

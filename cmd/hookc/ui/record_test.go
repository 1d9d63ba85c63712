package ui

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/policy"
)

// TestLate: an entry that is written long after its time is seen, whoever else wrote
// meanwhile, and each is counted once.
func TestLate(t *testing.T) {
	b := opened(t)
	open := func() *decisionlog.Writer {
		w, err := decisionlog.Open(decisionlog.Folder(b.home), decisionlog.Options{})
		require.NoError(t, err)
		return w
	}
	one, two := open(), open()
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Frozen(policy.PreToolExecution)
	add := func(w *decisionlog.Writer, ago time.Duration) {
		d := &policy.Decision{Event: policy.PreToolExecution, Action: policy.Proceed, Control: policy.Go}
		require.NoError(t, w.Add(t.Context(), decisionlog.Decided{At: time.Now().Add(-ago), Event: policy.PreToolExecution, In: in, Decision: d, Terms: &decisionlog.Terms{Durable: true}}))
	}
	r := newRecord(decisionlog.Folder(b.home))
	n := 0
	for _, ago := range []time.Duration{0, time.Minute, time.Hour, 48 * time.Hour, 0} {
		for _, w := range []*decisionlog.Writer{one, two, one} {
			add(w, ago)
			n++
			r.refresh()
			require.Len(t, r.rows, n, "%s", ago)
		}
	}
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())
	add2 := open()
	add(add2, 24*time.Hour)
	require.NoError(t, add2.Close())
	r.refresh()
	require.Len(t, r.rows, n+1)
}

// TestAnswersAreBounded: however many names, and however long, a log holds, no page of it
// is large; what is chosen stays chosen.
func TestAnswersAreBounded(t *testing.T) {
	b := opened(t).enter()
	w, err := decisionlog.Open(decisionlog.Folder(b.home), decisionlog.Options{Buffer: 3000})
	require.NoError(t, err)
	for i := range 600 {
		name := fmt.Sprintf("%d-", i) + strings.Repeat("x", 2000)
		in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, name).Set(policy.FieldSessionID, name).Frozen(policy.PreToolExecution)
		d := &policy.Decision{Event: policy.PreToolExecution, Action: policy.Block, Control: policy.Go, By: name, Reasons: []string{name},
			Hooks: []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: name}, Status: policy.StatusRan, Verdict: policy.Deny}}}
		require.NoError(t, w.Add(t.Context(), decisionlog.Decided{Event: policy.PreToolExecution, In: in, Agent: name, Decision: d}))
	}
	require.NoError(t, w.Close())
	for _, path := range []string{"/", "/hooks"} {
		assert.Less(t, len(b.get(path)), 1<<20, path)
	}
	last := "599-" + strings.Repeat("x", 195) + "…"
	assert.Contains(t, b.get("/?"+url.Values{"tool": {last}}.Encode()), `value="`+last+`" selected`)
}

package decisionlog

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNewest is Entries in its reverse, for one writer and for several, plain and
// compressed; a range is what Entries has of it.
func TestNewest(t *testing.T) {
	dir := filled(t, 60)
	list, err := segments(dir)
	require.NoError(t, err)
	require.True(t, list[0].zipped && !list[len(list)-1].zipped)
	a, b := started(t, dir, Options{Durable: true}), started(t, dir, Options{Durable: true})
	for i := range 20 {
		require.NoError(t, []*Writer{a, b}[i%2].Add(t.Context(), decided(i, strings.Repeat("x", i*5000))))
	}
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	var forth []*Entry
	for e, err := range Entries(dir) {
		require.NoError(t, err)
		forth = append(forth, e)
	}
	back := func(within Range) (out []*Entry) {
		for e, err := range Newest(dir, within) {
			require.NoError(t, err)
			out = append(out, e)
		}
		return out
	}
	got := back(Range{})
	require.Len(t, got, len(forth))
	for i, e := range got {
		require.Equal(t, forth[len(forth)-1-i].Timestamp, e.Timestamp)
	}
	for _, e := range forth {
		require.Contains(t, got, e)
		if e.ID == "" {
			continue
		}
		found, err := Find(dir, e.ID)
		require.NoError(t, err)
		require.Equal(t, e, found)
	}
	from, to := forth[len(forth)/3].Timestamp, forth[len(forth)*2/3].Timestamp
	want := 0
	for _, e := range forth {
		if (Range{from, to}).has(e.Timestamp) {
			want++
		}
	}
	require.Len(t, back(Range{from, to}), want)
	require.Empty(t, back(Range{From: time.Now().Add(time.Hour)}))
	_, err = Find(dir, strings.Repeat("0", 24))
	require.ErrorIs(t, err, ErrNoEntry)
	_, err = Find(dir, "nonsense")
	require.ErrorContains(t, err, "is no decision id")
}

// TestBackward gives the whole lines of any text in the reverse of their order.
func TestBackward(t *testing.T) {
	for _, lines := range [][]string{{}, {"a"}, {"", ""}, {"a", "", "b"}, {strings.Repeat("x", 1<<16)}, {strings.Repeat("x", 1<<16-1), "y", strings.Repeat("z", 1<<18)}} {
		for _, torn := range []string{"", "torn"} {
			text := torn
			if len(lines) > 0 {
				text = strings.Join(lines, "\n") + "\n" + torn
			}
			var got []string
			require.NoError(t, backward(bytes.NewReader([]byte(text)), int64(len(text)), func(line []byte) bool {
				got = append(got, string(line))
				return true
			}))
			slices.Reverse(got)
			require.Equal(t, len(lines), len(got))
			require.Equal(t, strings.Join(lines, "\n"), strings.Join(got, "\n"))
		}
	}
}

package decisionlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// taken reads what follows the positions, n decisions at most, and moves them.
func taken(t *testing.T, dir string, known map[int]Position, n int) (ids []string, missing uint64) {
	t.Helper()
	enough := errors.New("enough")
	missing, err := After(dir, known, func(writer int, at Position, e *Entry) error {
		if len(ids) == n {
			return enough
		}
		if e.Type == "decision" {
			ids = append(ids, e.ID)
		}
		known[writer] = at
		return nil
	})
	if !errors.Is(err, enough) {
		require.NoError(t, err)
	}
	return ids, missing
}

// TestAfter: whoever reads behind a position, in pieces of any size, has every decision
// once and in order, while the files behind it are compressed and taken away; what went
// before it was read is counted.
func TestAfter(t *testing.T) {
	for _, n := range []int{1, 3, 7, 1000} {
		dir, known, got := t.TempDir(), map[int]Position{}, []string{}
		w := started(t, dir, Options{MaxSize: 2 << 10})
		for i := range 60 {
			require.NoError(t, w.Add(t.Context(), decided(i, strings.Repeat("x", i*7))))
			if i%9 == 0 {
				require.NoError(t, w.Flush(t.Context()))
				ids, missing := taken(t, dir, known, n)
				require.Zero(t, missing)
				got = append(got, ids...)
			}
		}
		require.NoError(t, w.Close())
		w = started(t, dir, Options{MaxSize: 2 << 10}) // the same writer goes on
		require.NoError(t, w.Add(t.Context(), decided(60, "last")))
		require.NoError(t, w.Close())
		for {
			ids, missing := taken(t, dir, known, n)
			require.Zero(t, missing)
			if len(ids) == 0 {
				break
			}
			got = append(got, ids...)
		}
		want := []string{}
		for _, e := range decisions(t, dir) {
			want = append(want, e.ID)
		}
		require.Len(t, want, 61)
		require.Equal(t, want, got, "in pieces of %d", n)
	}
}

// TestAfterLoss: entries that were taken away or damaged before they were read are
// counted, and what follows them is given; another log in the place is read from its
// first entry.
func TestAfterLoss(t *testing.T) {
	dir, known := t.TempDir(), map[int]Position{}
	w := started(t, dir, Options{MaxSize: 2 << 10})
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			require.NoError(t, w.Add(t.Context(), decided(i, strings.Repeat("x", 200))))
			require.NoError(t, w.Flush(t.Context()))
		}
	}
	fill(0, 5)
	ids, _ := taken(t, dir, known, 3)
	require.Len(t, ids, 3)
	before := known[0].Seq
	fill(5, 40)
	require.NoError(t, w.Close())
	list, err := segments(dir)
	require.NoError(t, err)
	require.Greater(t, len(list), 4)
	for _, s := range list[:len(list)-2] {
		require.NoError(t, os.Remove(filepath.Join(dir, s.name)))
	}
	ids, missing := taken(t, dir, known, 1000)
	require.NotEmpty(t, ids)
	require.Equal(t, known[0].Seq-before, missing+uint64(len(ids))+2, "two are heads of segments")

	last := filepath.Join(dir, list[len(list)-1].name)
	require.NoError(t, os.Remove(filepath.Join(dir, list[len(list)-2].name)))
	w = started(t, dir, Options{MaxSize: 1 << 20})
	fill(40, 43)
	require.NoError(t, w.Close())
	text, err := os.ReadFile(last)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	require.Greater(t, len(lines), 2)
	at := map[int]Position{}
	lines[1] = strings.Replace(lines[1], "{", "x", 1)
	require.NoError(t, os.WriteFile(last, []byte(strings.Join(lines, "")+"\n"), 0o600))
	ids, missing = taken(t, dir, at, 1000)
	require.Len(t, ids, len(lines)-2)
	require.EqualValues(t, 1, missing, "the damaged one")

	require.NoError(t, os.RemoveAll(dir))
	w = started(t, dir, Options{})
	require.NoError(t, w.Add(t.Context(), decided(1, "another log")))
	require.NoError(t, w.Close())
	ids, missing = taken(t, dir, known, 1000)
	require.Len(t, ids, 1)
	require.Zero(t, missing)
}

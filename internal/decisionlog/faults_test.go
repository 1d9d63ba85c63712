package decisionlog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDamagedEnd: where the end of a writer's files cannot be read, what is decided
// goes to the files of the next, and verify still names the line.
func TestDamagedEnd(t *testing.T) {
	for name, damage := range map[string]func(path string, text []byte) error{
		"no entry": func(path string, text []byte) error {
			return os.WriteFile(path, append(text[:len(text)-2], "}}\n"...), 0o600)
		},
		"no JSON": func(path string, text []byte) error { return os.WriteFile(path, append(text, "\x00\n"...), 0o600) },
		"no gzip": func(path string, _ []byte) error { return os.WriteFile(path+".gz", []byte("no gzip"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := started(t, dir, Options{Durable: true})
			require.NoError(t, w.Add(t.Context(), decided(0, "ls")))
			require.NoError(t, w.Close())
			path := filepath.Join(dir, segmentName(0, 1))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if name == "no gzip" {
				require.NoError(t, os.Remove(path))
			}
			require.NoError(t, damage(path, text))
			for range 2 {
				w = started(t, dir, Options{Durable: true})
				require.NoError(t, w.Add(t.Context(), decided(1, "ls")))
				require.NoError(t, w.Close())
			}
			_, err = os.Stat(filepath.Join(dir, segmentName(1, 1)))
			require.NoError(t, err)
			_, err = os.Stat(filepath.Join(dir, segmentName(2, 1)))
			require.ErrorIs(t, err, os.ErrNotExist)
			_, err = Verify(dir, nil)
			require.ErrorContains(t, err, segmentName(0, 1))
		})
	}
}

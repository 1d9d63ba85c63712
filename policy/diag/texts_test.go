package diag

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/packed"
)

var update = flag.Bool("update", false, "pack codes.txt again")

// TestPacked: what the binary holds is codes.txt.
func TestPacked(t *testing.T) {
	text, err := os.ReadFile("codes.txt")
	require.NoError(t, err)
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		require.NoError(t, err)
		_, err = w.Write(text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile("codes.txt.gz", b.Bytes(), 0o600))
		return
	}
	assert.Equal(t, string(text), packed.Text(texts), "go test ./policy/diag -update packs it again")
}

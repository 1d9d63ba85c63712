package harm

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

var update = flag.Bool("update", false, "pack harm.txt again")

// TestPacked: what the binary holds is harm.txt.
func TestPacked(t *testing.T) {
	text, err := os.ReadFile("harm.txt")
	require.NoError(t, err)
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		require.NoError(t, err)
		_, err = w.Write(text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile("harm.txt.gz", b.Bytes(), 0o600))
		return
	}
	assert.Equal(t, string(text), packed.Text(table), "go test ./builtins/harm -update packs it again")
}

// TestTable: every line can be read.
func TestTable(t *testing.T) {
	for kind, list := range map[string]map[string][]*rule{"programs": parsed().programs, "files": parsed().files} {
		for name, rules := range list {
			for _, r := range rules {
				if assert.NotNil(t, r.want, "%s %s", kind, name) {
					r.want()
				}
				if r.not != nil {
					r.not()
				}
				if r.line != nil {
					r.line()
				}
			}
		}
	}
}

package packed

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "pack the texts again")

// TestPacked: what the binary holds is the text beside it.
func TestPacked(t *testing.T) {
	for _, name := range []string{
		"builtins/guard/advice.txt", "builtins/harm/harm.txt", "builtins/losses/tools.txt", "builtins/losses/wrappers.txt", "builtins/winshell/table.txt", "cmd/hookc/help.txt",
		"dag/render/html.css", "dag/render/html.js", "dag/render/svg.css", "policy/diag/codes.txt",
	} {
		file := filepath.Join("..", "..", filepath.FromSlash(name))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if *update {
			var b bytes.Buffer
			w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
			require.NoError(t, err)
			_, err = w.Write(text)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.NoError(t, os.WriteFile(file+".gz", b.Bytes(), 0o600))
		}
		packed, err := os.ReadFile(file + ".gz")
		require.NoError(t, err)
		assert.Equal(t, string(text), Text(string(packed)), "%s: go test ./internal/packed -update packs it again", name)
	}
}

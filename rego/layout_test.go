package rego

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	got, err := Format("a.rego", []byte("package p\n# why\ndeny contains  \"x\"   if  {\n input.tool_name==\"Bash\"\n}\n"), "")
	require.NoError(t, err)
	assert.Equal(t, "package p\n\n# why\ndeny contains \"x\" if {\n\tinput.tool_name == \"Bash\"\n}\n", string(got))
}

// TestFormatCorpus: every file says what it said, and is laid out once and for
// all; v0 stays v0. Of two files OPA's formatter makes something else, which is
// noticed: an else of a value and a test becomes no Rego, and imports of keywords
// that v0 needs are left out.
func TestFormatCorpus(t *testing.T) {
	files, refused := 0, []string{}
	for _, glob := range []string{"*.rego", "lib/*.rego", "v0/*.rego"} {
		list, err := filepath.Glob(filepath.Join(corpusFolder, glob))
		require.NoError(t, err)
		for _, file := range list {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			version := ""
			if filepath.Base(filepath.Dir(file)) == "v0" {
				version = "v0"
			}
			files++
			once, err := Format(file, text, version)
			if err != nil {
				refused = append(refused, filepath.Base(file))
				continue
			}
			twice, err := Format(file, once, version)
			require.NoError(t, err, file)
			assert.Equal(t, string(once), string(twice), file)
		}
	}
	assert.Greater(t, files, 50)
	assert.Equal(t, []string{"allow_else.rego", "v0_future.rego"}, refused)
}

func TestFormatRefuses(t *testing.T) {
	for text, version := range map[string]string{"package p\ndeny contains": "", "package p\ndeny[x] { x := 1 }": "v1", "no rego": "v0"} {
		_, err := Format("a.rego", []byte(text), version)
		assert.Error(t, err, text)
	}
	got, err := Format("a.rego", []byte("package p\ndeny[x] { x := 1 }\n"), "")
	require.NoError(t, err)
	assert.Equal(t, "package p\n\ndeny[x] {\n\tx := 1\n}\n", string(got))
}

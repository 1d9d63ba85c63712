// Package codes reads the diagnostic codes and their examples where users read
// them: from the real hookc. Its test runs the examples.
package codes

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// Info is what `hookc list code --json` says of a code.
type Info struct{ Name, Doc string }

// NoExample are the codes that no policy is an example of, with the reason: a
// bug of hookc, a policy larger than a page, a slow machine, and a file that was
// written less than a second ago.
var NoExample = map[string]string{
	"HK079": "Only a bug of hookc reports it, so there is no example.",
	"HK024": "An example would be too long for this page.",
	"HK025": "An example would be too long for this page.",
	"HK026": "An example would be too long for this page.",
	"HK027": "It depends on the machine, so there is no example.",
	"HK023": "It depends on the time of a change, so there is no example.",
	"HK174": "It takes a fleet that cannot be reached.",
	"HK394": "It takes a policy server that does not answer.",
	"HK230": "A bundle is no text, so there is no example.",
	"HK231": "It depends on the machine's own folder, so there is no example.",
	"HK232": "It depends on the machine's own folder, so there is no example.",
}

// All lists the codes.
func All(t *testing.T) []Info {
	t.Helper()
	out, err := exec.Command(programs.Hookc(t), "list", "code", "--json").Output()
	require.NoError(t, err)
	var codes []Info
	require.NoError(t, json.Unmarshal(out, &codes))
	require.NotEmpty(t, codes)
	return codes
}

// Examples reads the examples of a code, in `hookc help CODE`.
func Examples(t *testing.T, code string) (bad, good string) {
	t.Helper()
	out, err := exec.Command(programs.Hookc(t), "help", code).Output()
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(out), "\nReported for:\n\n")
	require.True(t, ok)
	bad, good, ok = strings.Cut(rest, "\nNot reported for:\n\n")
	require.True(t, ok)
	return unspelt.Replace(unindent(bad)), unspelt.Replace(unindent(good))
}

// unspelt gives back the characters of examples that no screen is sent, which
// help spells.
var unspelt = strings.NewReplacer(`\ufeff`, "\ufeff")

func unindent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unpack lays an example out and lists its policies: files and HOOK.md folders.
func Unpack(t *testing.T, example string) []string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	archive := txtar.Parse([]byte(example))
	if len(archive.Files) == 0 {
		archive.Files = []txtar.File{{Name: "hooks.yaml", Data: []byte(example)}}
	}
	var out []string
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(path, f.Data, mode))
		switch filepath.Base(path) {
		case "hooks.yaml":
			out = append(out, path)
		case "HOOK.md":
			out = append(out, filepath.Dir(path))
		}
	}
	return out
}

package laws

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/print"
	"github.com/hookc/hookc/tests/codes"
)

// TestLaidOutMeansTheSame: every policy in the repository, and what `hookc help
// CODE` shows, laid out by fmt: the program has the same hash, or the same
// findings, and laying out again changes nothing.
func TestLaidOutMeansTheSame(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	paths := []string{filepath.Join(root, "hooks.example.yaml")}
	seeds, err := filepath.Glob(filepath.Join(root, "tests/testdata/seeds/*.yaml"))
	require.NoError(t, err)
	paths = append(paths, seeds...)
	compared := 0
	for _, path := range paths {
		compared += sameLaidOut(t, path)
	}
	require.Equal(t, len(paths), compared)
	for _, c := range codes.All(t) {
		if codes.NoExample[c.Name] != "" {
			continue // it has no example
		}
		bad, good := codes.Examples(t, c.Name)
		for _, example := range []string{bad, good} {
			if example == "" {
				continue
			}
			for _, path := range codes.Unpack(t, example) {
				compared += sameLaidOut(t, path)
			}
		}
	}
	assert.Greater(t, compared, 100, "too few of the examples could be compared")
}

// sameLaidOut lays a policy out and compares the programs; it returns how many it
// compared. The paths in a policy are relative to its folder, so the text is
// compiled in its place.
func sameLaidOut(t *testing.T, path string) int {
	t.Helper()
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "HOOK.md")
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	after, err := print.Tidy(path, before)
	if err != nil {
		return 0 // no YAML, mostly: an example of that
	}
	again, err := print.Tidy(path, after)
	require.NoError(t, err)
	require.Equal(t, string(after), string(again), path)
	if filepath.Base(path) == "HOOK.md" {
		return 1 // Tidy has compared the fields; a HOOK.md is read by its folder
	}
	compile := func(text []byte) (string, []string) {
		in, err := source.ParseInput(path)
		require.NoError(t, err)
		in.Content = text
		program, found := hookc.Compile(host.Input[hookc.Option](in), hookc.SkipVerify())
		var said []string
		for _, d := range found {
			said = append(said, d.Code.ID+" "+d.Hook)
		}
		if program == nil {
			return "", said
		}
		return program.Hash, said
	}
	hash, said := compile(before)
	now, saidNow := compile(after)
	require.Equal(t, hash, now, "%s\n%s", path, after)
	require.ElementsMatch(t, said, saidNow, "%s\n%s", path, after)
	return 1
}

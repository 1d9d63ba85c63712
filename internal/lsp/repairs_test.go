package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/fix"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy/diag"
)

// written puts an example of a code into a folder.
func written(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	a := txtar.Parse([]byte(text))
	if len(a.Files) == 0 {
		a.Files = []txtar.File{{Name: "hooks.yaml", Data: []byte(text)}}
	}
	for _, f := range a.Files {
		path := filepath.Join(dir, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o644))
	}
	return dir
}

func findings(t *testing.T, dir string) diag.List {
	t.Helper()
	program, found := hookc.Compile(hookc.Discover(dir), hookc.ShownFrom(dir), hookc.AsFound(), hookc.SkipVerify())
	if program != nil {
		found.Add(witness.Lints(program)...)
		found.Add(witness.Findings(witness.Find(t.Context(), program, program.Tools), found)...)
	}
	return found
}

func count(found diag.List, code string) int {
	n := 0
	for _, d := range found {
		if d.Code.ID == code {
			n++
		}
	}
	return n
}

// TestRepairs: of each code's example whose finding has a repair, the repair takes the
// finding away and brings no error.
func TestRepairs(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	repaired := map[string]bool{}
	for _, code := range diag.Codes() {
		if code.Bad == "" {
			continue
		}
		dir := written(t, code.Bad)
		var found diag.List
		hasFix := false
		program, first := hookc.Compile(hookc.Discover(dir), hookc.ShownFrom(dir), hookc.AsFound(), hookc.SkipVerify())
		for _, d := range first {
			_, ok := fix.Of(d)
			hasFix = hasFix || ok
		}
		if _ = program; !hasFix {
			continue
		}
		found = findings(t, dir)
		for _, d := range found {
			e, ok := fix.Of(d)
			if !ok {
				continue
			}
			repaired[d.Code.ID] = true
			path := filepath.Join(dir, d.Span.File())
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			after := string(before[:e.At.Start]) + e.Text + string(before[e.At.End:])
			require.NoError(t, os.WriteFile(path, []byte(after), 0o644))
			now := findings(t, dir)
			assert.Less(t, count(now, d.Code.ID), count(found, d.Code.ID), "%s\nis now\n%s%s", d.Render(), after, now.Render())
			for _, left := range now {
				assert.True(t, left.Severity != diag.Error || count(found, left.Code.ID) > 0, "%s gives %s", d.Render(), left.Render())
			}
			require.NoError(t, os.WriteFile(path, before, 0o644))
		}
	}
	t.Log(slices.Sorted(maps.Keys(repaired)))
	assert.GreaterOrEqual(t, len(repaired), 8)
}

// TestFiles: repairs of one file are made at once, and of two of one place one.
func TestFiles(t *testing.T) {
	dir := written(t, "pre_tool_execution:\n  - {nam: a, dney: 'true', reason: x}\n  - {name: b, deny: 'true', reson: x}\n")
	found := findings(t, dir)
	files := fix.Files(append(found, found...))
	require.Len(t, files, 1)
	assert.Equal(t, 3, files[0].Count)
	assert.Equal(t, "pre_tool_execution:\n  - {name: a, deny: 'true', reason: x}\n  - {name: b, deny: 'true', reason: x}\n", files[0].After)
}

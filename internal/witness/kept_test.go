package witness

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
)

func text(name, content string) map[string]*diag.Source {
	return map[string]*diag.Source{name: diag.NewSource(name, content)}
}

func found(texts map[string]*diag.Source) []Rule {
	at := diag.Span{Source: texts["a"], Start: 1, End: 4}
	return []Rule{
		{Hook: "h", Event: policy.PreToolExecution, Rule: "deny", At: at, Place: at.String(), Status: Fires, Witness: map[string]any{"tool_name": "Bash"}},
		{Hook: "i", Event: policy.PreToolExecution, Rule: "deny", At: at, Place: at.String(), Status: Never, Why: []string{"no"}, Span: at},
	}
}

// TestKeptIsWhatWasFound: what was stored comes back for the same key and texts, and
// for nothing else.
func TestKeptIsWhatWasFound(t *testing.T) {
	texts := text("a", "0123456789")
	rules := found(texts)
	content := stored(rules, "key", texts)
	require.NotNil(t, content)
	again, ok := restored(content, "key", texts)
	require.True(t, ok)
	assert.Equal(t, rules, again)
	_, ok = restored(content, "other", texts)
	assert.False(t, ok, "another key")
	_, ok = restored(content, "key", text("a", "01"))
	assert.False(t, ok, "a shorter text")
	_, ok = restored(content, "key", text("b", "0123456789"))
	assert.False(t, ok, "another text")
	assert.Nil(t, stored(rules, "key", text("a", "0123456789")), "a place in a text that is not the policy's")
}

// TestKeyFollowsAll: each of what an answer follows from makes another key.
func TestKeyFollowsAll(t *testing.T) {
	program := &dag.Program{Hash: "sha256:1"}
	keys := map[string]bool{}
	add := func(build string, p *dag.Program, tools policy.Catalogue, texts map[string]*diag.Source) {
		key, _ := keyOf(build, p, tools, texts)
		assert.False(t, keys[key])
		keys[key] = true
	}
	add("1", program, policy.Catalogue{}, text("a", "x"))
	add("2", program, policy.Catalogue{}, text("a", "x"))
	add("1", &dag.Program{Hash: "sha256:2"}, policy.Catalogue{}, text("a", "x"))
	add("1", program, policy.Catalogue{Known: []string{"Bash"}}, text("a", "x"))
	add("1", program, policy.Catalogue{Open: []string{"Bash"}}, text("a", "x"))
	add("1", program, policy.Catalogue{}, text("a", "y"))
	add("1", program, policy.Catalogue{}, text("b", "x"))
	hook := &policy.Hook{Name: "h"}
	add("1", &dag.Program{Hash: "sha256:1", Plans: []*dag.Plan{{Event: policy.PreToolExecution, Nodes: []dag.Node{{Hook: hook}}}}}, policy.Catalogue{}, text("a", "x"))
}

// TestDamagedIsNotBelieved: a file that was cut, or changed in any byte, is not there.
func TestDamagedIsNotBelieved(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	program := &dag.Program{Hash: "sha256:1"}
	root := t.TempDir()
	FindKept(context.Background(), program, policy.Catalogue{}, root)
	folder, err := state.Open(root)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder.Path(), "witnesses-?"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	texts := text("a", "0123456789")
	name := filepath.Base(files[0])
	require.NoError(t, folder.Update(name, func([]byte) ([]byte, error) { return stored(found(texts), "key", texts), nil }))
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 17))
	for range 300 {
		broken := bytes.Clone(whole)
		if rng.IntN(2) == 0 {
			broken = broken[:rng.IntN(len(broken))]
		} else {
			broken[rng.IntN(len(broken))] ^= byte(1 << rng.IntN(8))
		}
		require.NoError(t, os.WriteFile(files[0], broken, 0o600))
		_, err := folder.Read(name)
		require.Error(t, err)
	}
}

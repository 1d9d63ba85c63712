package witness

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/tests/depth"
)

// written is a policy of files that is edited: of each hook its order, words and body.
type written struct {
	hooks              []writtenHook
	lib, data, catalog int
	next               int
}

type writtenHook struct{ id, shape, word, filter int }

// write writes the policy to a folder.
func (w *written) write(t *testing.T, dir string) string {
	t.Helper()
	yaml := strings.Builder{}
	yaml.WriteString("rego: {data: [data.json], paths: [lib.rego]}\n")
	if w.catalog > 0 {
		fmt.Fprintf(&yaml, "tools: {known: [Bash, Write, T%d], open: [\"mcp__*\"]}\n", w.catalog)
	}
	yaml.WriteString("pre_tool_execution:\n")
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("lib.rego", fmt.Sprintf("package lib\n\nbad(c) if startswith(c, \"lib%d \")\nbad(c) if endswith(c, \" -f\")\n", w.lib))
	put("data.json", fmt.Sprintf(`{"names": ["n%d", "m"]}`, w.data))
	for _, h := range w.hooks {
		filter := []string{"", ", filter: {tool_name: Bash}", ", filter: {tool_kind: shell}"}[h.filter]
		body := []string{
			"deny contains \"no\" if input.tool_input.x == \"w%d\"",
			"deny contains \"no\" if { input.tool_input.n > %[1]d; input.tool_input.n < %[1]d }",
			"ask contains \"sure?\" if data.lib.bad(input.command)\ndeny contains \"w%d\" if input.tool_input.x == data.names[_]",
			"patch := {\"tool_input\": {\"x\": \"w%d\"}} if input.tool_input.z",
			"deny contains \"no\" if regex.match(`^w%d.*(a|b)$`, input.tool_input.x)\ndeny contains \"it\" if crypto.sha256(input.tool_input.x) == \"w%[1]d\"",
			"context contains \"w%d\" if { input.tool_input.n > 2; not input.tool_input.force }",
		}
		if h.shape >= len(body) {
			fmt.Fprintf(&yaml, "  - {name: h%d, deny: 'tool_input.y == \"w%d\"', reason: no%s}\n", h.id, h.word, filter)
			continue
		}
		text := fmt.Sprintf(body[h.shape], h.word)
		put(fmt.Sprintf("h%d.rego", h.id), fmt.Sprintf("package h%d\n\n%s\n", h.id, text))
		fmt.Fprintf(&yaml, "  - {name: h%d, type: rego, file: h%d.rego%s}\n", h.id, h.id, filter)
	}
	put("hooks.yaml", yaml.String())
	return filepath.Join(dir, "hooks.yaml")
}

func (w *written) hook(rng *rand.Rand) writtenHook {
	w.next++
	shape := rng.IntN(8)
	if shape == 3 && rng.IntN(3) > 0 {
		shape = 0 // Behind one that changes the event nothing is kept alone.
	}
	return writtenHook{w.next, shape, rng.IntN(4), rng.IntN(3)}
}

// edit changes something of a policy.
func (w *written) edit(rng *rand.Rand) {
	i := rng.IntN(len(w.hooks))
	switch rng.IntN(8) {
	case 0:
		w.lib++
	case 1:
		w.data++
	case 2:
		w.catalog = rng.IntN(3)
	case 3:
		w.hooks = append(w.hooks[:i:i], w.hooks[i+1:]...)
		fallthrough
	case 4:
		w.hooks = append(w.hooks[:i:i], append([]writtenHook{w.hook(rng)}, w.hooks[i:]...)...)
	case 5:
		j := rng.IntN(len(w.hooks))
		w.hooks[i], w.hooks[j] = w.hooks[j], w.hooks[i]
	case 6:
		w.hooks[i].filter = rng.IntN(3)
	default:
		w.hooks[i].word++
	}
}

// all is all that is said of rules.
func all(t *testing.T, rules []Rule, found diag.List) string {
	t.Helper()
	text, err := json.MarshalIndent(rules, "", " ")
	require.NoError(t, err)
	return string(text) + fmt.Sprint(Count(rules)) + Findings(rules, found).Render()
}

func compile(t *testing.T, file string) (*dag.Program, diag.List) {
	t.Helper()
	prog, found := hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
	require.False(t, found.HasErrors(), "%s", found.Render())
	return prog, found
}

// TestKeptAfterEdits: after an edit of any file, what is found with what was kept is
// what is found from nothing, in the same order. A file of another build, and one that
// cannot be written, change nothing.
func TestKeptAfterEdits(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	rng := rand.New(rand.NewPCG(17, 4))
	for range depth.Of(16) {
		dir, w := t.TempDir(), &written{}
		for range 8 {
			w.hooks = append(w.hooks, w.hook(rng))
		}
		for step := range 12 {
			prog, found := compile(t, w.write(t, dir))
			want := all(t, Find(context.Background(), prog, prog.Tools), found)
			for _, turn := range []string{"edited", "again"} {
				got := all(t, FindKept(context.Background(), prog, prog.Tools, dir), found)
				require.Equal(t, want, got, "%s, step %d: %+v", turn, step, w)
			}
			w.edit(rng)
		}
	}
}

// TestOneFilePaysForOne: after one of many files was edited, the events of the others
// are not looked for again; one of another build none is believed.
func TestOneFilePaysForOne(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, w := t.TempDir(), &written{}
	for i := range 20 {
		w.hooks = append(w.hooks, writtenHook{i, 0, i, 0})
	}
	prog, _ := compile(t, w.write(t, dir))
	FindKept(context.Background(), prog, prog.Tools, dir)
	folder, err := state.Open(dir)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(folder.Path(), "witnesses-?"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	content, err := folder.Read(filepath.Base(files[0]))
	require.NoError(t, err)
	w.hooks[7].word = 99
	prog, _ = compile(t, w.write(t, dir))
	own, err := wire.OwnBuild()
	require.NoError(t, err)
	for build, want := range map[string]int{own: 19, "another": 0, "": 0} {
		f := &finder{ctx: context.Background(), prog: prog, tools: prog.Tools, build: build, known: known(content)}
		require.Len(t, f.known, 20)
		f.find()
		kept := 0
		for _, j := range f.jobs {
			if _, is := f.known[j.own]; is {
				kept++
			}
		}
		assert.Equal(t, want, kept, "of the build %q", build)
	}
}

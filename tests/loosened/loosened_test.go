// Package loosened holds changes of policies that hold less back and changes that
// change nothing, and asks hookc what is known of each.
package loosened

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// edit is one change of a base.
type edit struct {
	base, class, old, new string
	loosens               bool
	line                  int
}

func edits(t *testing.T) []edit {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cases.txt"))
	require.NoError(t, err)
	var out []edit
	base, class := "", ""
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			base, class, _ = strings.Cut(line[2:], ": ")
		case line != "":
			old, new, found := strings.Cut(line[2:], " =>")
			require.True(t, found, line)
			unescape := strings.NewReplacer(`\n`, "\n").Replace
			if !strings.HasSuffix(new, " ") || strings.TrimSpace(new) == "" {
				new = strings.TrimPrefix(new, " ")
			} else {
				new = new[1:]
			}
			out = append(out, edit{base, class, unescape(old), unescape(new), line[0] == '-', i + 1})
		}
	}
	return out
}

// bases are the policies that are changed, by name.
func bases(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"rego", "expr", "chain", "folder"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
		require.NoError(t, err)
		out[name] = string(text)
	}
	return out
}

// compiled is the policy in a text of files.
func compiled(t *testing.T, text string) (*dag.Program, string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(text)).Files {
		path := filepath.Join(dir, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, programs.Write(path, f.Data))
	}
	from := dir
	if _, err := os.Stat(filepath.Join(dir, "hooks.yaml")); err == nil {
		from = filepath.Join(dir, "hooks.yaml")
	}
	p, found := hookc.Compile(hookc.Files(from), hookc.AsFound(), hookc.SkipVerify())
	if !assert.False(t, found.HasErrors(), "%s", found.Render()) {
		return nil, dir
	}
	return p, dir
}

// TestCorpus: a change that holds less back is found, with an event, or said to be
// unknown; one that changes nothing is never said to change a decision.
func TestCorpus(t *testing.T) {
	all, texts := edits(t), bases(t)
	programs := map[string]*dag.Program{}
	loosened, witnessed, harmless, proved := 0, 0, 0, 0
	for i, e := range all {
		if e.loosens {
			loosened++
		} else {
			harmless++
		}
		require.Contains(t, texts[e.base], e.old, "line %d", e.line)
		if !depth.Full() && i%12 != 0 {
			continue
		}
		if programs[e.base] == nil {
			programs[e.base], _ = compiled(t, texts[e.base])
		}
		now, _ := compiled(t, strings.Replace(texts[e.base], e.old, e.new, 1))
		if now == nil {
			t.Logf("line %d", e.line)
			continue
		}
		r, err := diff.Compare(t.Context(), programs[e.base], now, diff.Options{Prove: true, Events: 300})
		require.NoError(t, err)
		found := len(r.Decisions) > 0 && r.Decisions[0].Direction == diff.Loosened
		switch {
		case !e.loosens:
			assert.Empty(t, r.Decisions, "line %d (%s): %s", e.line, e.class, r.Text())
			if r.Proved() {
				proved++
			} else {
				t.Logf("line %d: unknown: %s", e.line, r.Unknown(false))
			}
		case found:
			witnessed++
		default:
			t.Logf("line %d: %s", e.line, r.Unknown(true))
			assert.NotEmpty(t, r.Unknown(true), "line %d (%s) %q => %q: reported without a loosening\n%s", e.line, e.class, e.old, e.new, r.Text())
		}
	}
	t.Logf("%d loosen, %d with an event; %d change nothing, %d of them proved", loosened, witnessed, harmless, proved)
	assert.GreaterOrEqual(t, loosened, 150)
	assert.GreaterOrEqual(t, harmless, 40)
}

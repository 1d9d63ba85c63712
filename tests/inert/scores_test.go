package inert

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/tests/depth"
)

// score counts what was answered of rules.
type score struct {
	rules, known int
	unknown      []string
}

func (s *score) of(t *testing.T, name, file string) {
	t.Helper()
	program, found := hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
	if found.HasErrors() {
		return // a mistake that a page shows, or a part of a policy
	}
	for _, r := range witness.Find(t.Context(), program, program.Tools) {
		s.rules++
		if r.Status != witness.Unknown {
			s.known++
		} else {
			s.unknown = append(s.unknown, fmt.Sprintf("%s: %s %s: %v", name, r.Hook, r.Rule, r.Why))
		}
	}
}

// TestScores: of the rules in the guides and pages, and in the documents that hookc began
// with, 95 % have an event that makes them fire, or a proof that there is none. Of the
// corpus of native Rego, which was made to have every function, it is four fifths.
func TestScores(t *testing.T) {
	depth.NotDaily(t)
	var pages, seeds, corpus score
	write := func(dir, name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	var files []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	block := regexp.MustCompile("(?s)\n```(yaml|rego|json)\n(.*?)```")
	named := regexp.MustCompile(`^# (\S+)\n`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		dir := t.TempDir()
		var policies []string
		for i, m := range block.FindAllStringSubmatch(string(text), -1) {
			at := fmt.Sprintf("block%d.%s", i, m[1])
			if n := named.FindStringSubmatch(m[2]); n != nil {
				at = n[1]
			}
			path := write(dir, at, m[2])
			if m[1] == "yaml" && !strings.HasSuffix(at, "_test.yaml") {
				policies = append(policies, path)
			}
		}
		for _, path := range policies {
			pages.of(t, name, path)
		}
	}
	pages.of(t, "example", "../../hooks.example.yaml")

	archives, err := filepath.Glob("../testdata/seeds/*.txtar")
	require.NoError(t, err)
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		require.NoError(t, err)
		dir := t.TempDir()
		for _, f := range a.Files {
			write(dir, f.Name, string(f.Data))
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				seeds.of(t, name, filepath.Join(dir, filepath.FromSlash(f.Name)))
			}
		}
	}
	whole, err := filepath.Glob("../testdata/seeds/*.yaml")
	require.NoError(t, err)
	for _, name := range whole {
		seeds.of(t, name, name)
	}

	rego, err := filepath.Glob("../../rego/testdata/corpus/*.rego")
	require.NoError(t, err)
	require.Greater(t, len(rego), 50)
	for i, name := range rego {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		dir := t.TempDir()
		write(dir, "hook.rego", string(text))
		corpus.of(t, filepath.Base(name), write(dir, "hooks.yaml", fmt.Sprintf("pre_tool_execution:\n  - {name: h%d, file: hook.rego}\n", i)))
	}
	least := map[string]int{"pages": 95, "seeds": 95, "corpus": 80}
	for name, s := range map[string]score{"pages": pages, "seeds": seeds, "corpus": corpus} {
		t.Logf("%s: %d of %d rules", name, s.known, s.rules)
		assert.NotZero(t, s.rules, name)
		for _, u := range s.unknown {
			t.Log("  not known: " + u)
		}
		assert.GreaterOrEqual(t, s.known*100, s.rules*least[name], name)
	}
}

package laws

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/print"
	"github.com/hookc/hookc/tests/codes"
	"github.com/hookc/hookc/tests/depth"
)

// Law 3, the part about print → reload: a policy printed as one hooks.yaml and
// read again has the same hash, which covers everything that says what it
// means, in order. Broken by hand, one at a time: a literal block without its
// trailing line break, one without its indentation indicator, quotes left off a
// text that begins with `!`, `writes: []` and `retry: 0` taken for not written,
// a group's fold or priority left out. Each was caught here.

// printed prints the project tier of a policy that will lie in dir.
func printed(t testing.TB, p *policy.Policy, dir string) []byte {
	t.Helper()
	text, found := print.Print(p, print.Options{Tier: policy.TierProject, Dir: dir})
	require.Empty(t, found.Render())
	again, found := print.Print(p, print.Options{Tier: policy.TierProject, Dir: dir})
	require.Empty(t, found.Render())
	require.Equal(t, string(text), string(again))
	return text
}

// oddTexts are bodies that YAML could mangle.
var oddTexts = []string{"true", "!x", "a: b", "a #b", "- a", "line\nline\n", "  first\nsecond", "a\r\nb", "tab\tend ", " x", "\n\nx\n\n", "'\"\\", "a\u2028b", "\ufeffx",
	"caf\u00e9 \U0001F600", "null", "0x10", "12:30", "{{x}}", "[x]", "# no comment\n# either\n", "a\n   \nb\n"}

// furnish gives each hook of the world what a written one has besides.
func (w *world) furnish() *world {
	file := &policy.FileConfig{OnError: map[policy.Kind]policy.Posture{}}
	if w.percent(50) {
		file.OnError[policy.KindBash], file.Model = policy.Posture(w.rng.IntN(5)), "m"
	}
	text := func() diag.Text { return diag.Literal(oddTexts[w.rng.IntN(len(oddTexts))]) }
	if w.percent(30) {
		file.Rego = policy.RegoConfig{Version: "v0", Forbid: []string{"http.send", text().Value}}
	}
	priorities := map[*policy.Group]int{}
	for _, h := range w.policy.Hooks {
		h.Tier, h.File, h.Locked, h.Disabled = policy.TierProject, file, w.percent(20), w.percent(10)
		if w.percent(40) {
			h.Priority = w.rng.IntN(300) - 50
		}
		if h.Group != nil {
			if _, drawn := priorities[h.Group]; !drawn {
				priorities[h.Group] = h.Priority
			}
			h.Group.Priority, h.Priority = priorities[h.Group], policy.DefaultPriority
		}
		if w.percent(40) {
			h.Timeout = time.Duration(1+w.rng.IntN(5000)) * time.Millisecond
		}
		if w.percent(40) {
			h.Description = text().Value
		}
		switch b := &h.Body; h.Kind {
		case policy.KindBash:
			b.Command, b.Env = text(), []policy.EnvVar{{Name: "A", Value: text().Value}, {Name: "0", Value: ""}}
			b.Protocol = []policy.Protocol{"", policy.JCLIProtocol, "claude"}[w.rng.IntN(3)]
		case policy.KindLLM:
			b.Prompt = text()
		case policy.KindRego:
			b.Source = text()
		case policy.KindExpr:
			for range 1 + w.rng.IntN(2) {
				b.Rules = append(b.Rules, policy.Rule{Says: policy.MayDeny, Condition: text(), Reason: text()})
			}
			b.When, b.Context = text(), diag.Literal(oddTexts[0])
		}
	}
	for i := range w.policy.Settings {
		w.policy.Settings[i].Tier = policy.TierProject
	}
	w.number()
	return w
}

// TestPrintedPolicyHasTheSameHash: random policies.
func TestPrintedPolicyHasTheSameHash(t *testing.T) {
	for seed := range depth.Of(uint64(400)) {
		w := newWorld(3<<48 + seed).furnish()
		text := printed(t, w.policy, "")
		again, found := source.Load(source.Options{Inputs: []source.Input{{Path: "hooks.yaml", Tier: policy.TierProject, Content: text}}})
		require.Empty(t, found.Render(), "seed %d\n%s", seed, text)
		v := w.clone()
		v.policy = again
		require.Equal(t, w.compile(t).Hash, v.compile(t).Hash, "seed %d\n%s", seed, text)
	}
}

// TestEqualTellsProgramsApart: what convert compares programs with finds a
// program equal to itself, and finds most hooks that have been changed. One that
// no event reaches, or that says what another says, may be changed unseen.
func TestEqualTellsProgramsApart(t *testing.T) {
	changes := map[string]func(h *policy.Hook){
		"filter": func(h *policy.Hook) {
			h.Filter.Conditions = []policy.Condition{condition(policy.FilterToolName, "Nope")}
		},
		"on_error": func(h *policy.Hook) {
			if h.OnError == policy.OnErrorDeny {
				h.OnError = policy.OnErrorSkip
			} else {
				h.OnError = policy.OnErrorDeny
			}
		},
		"retry": func(h *policy.Hook) { h.Retry += 2 },
		"may":   func(h *policy.Hook) { h.Declared.May = []diag.Text{} },
	}
	worlds := depth.Of(uint64(80))
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			seen := 0
			for seed := range worlds {
				w := newWorld(5<<48+seed, policy.PreToolExecution).flat()
				w.policy.Hooks[0].Async = false
				a := w.compile(t)
				require.NoError(t, executor.Equal(a, w.compile(t), 100))
				v := w.clone()
				change(v.policy.Hooks[0])
				if executor.Equal(a, v.compile(t), 100) != nil {
					seen++
				}
			}
			assert.Greater(t, seen, int(worlds/4), "%d of %d seen", seen, worlds)
		})
	}
}

// TestPrintedExamplesMeanTheSame: every policy in the repository, and what
// `hookc help CODE` shows, as far as it compiles.
func TestPrintedExamplesMeanTheSame(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	t.Run("hooks.example.yaml", func(t *testing.T) { samePrinted(t, filepath.Join(root, "hooks.example.yaml")) })
	files, err := filepath.Glob("../testdata/seeds/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			path, err := filepath.Abs(f)
			require.NoError(t, err)
			samePrinted(t, path)
		})
	}
	compared := 0
	for _, c := range codes.All(t) {
		if codes.NoExample[c.Name] != "" {
			continue // no policy reports it
		}
		bad, good := codes.Examples(t, c.Name)
		if c.Name == "HK040" {
			bad = good // what cannot be printed
		}
		for name, example := range map[string]string{"Bad": bad, "Good": good} {
			t.Run(c.Name+" "+name, func(t *testing.T) {
				compared += samePrinted(t, codes.Unpack(t, example)...)
			})
		}
	}
	assert.Greater(t, compared, 100, "too few of the examples could be compared")
}

// samePrinted prints each policy that compiles beside itself and compares the
// two programs; it returns how many it compared. Programs of a HOOK.md, or of
// included files with defaults of their own, say the same in other words: they
// are compared by their explain models.
func samePrinted(t *testing.T, paths ...string) (compared int) {
	t.Helper()
	for _, path := range paths {
		options := []hookc.Option{hookc.Files(path), hookc.SkipVerify(), hookc.ShownFrom(filepath.Dir(path))}
		want, found := hookc.Compile(options...)
		if found.HasErrors() || len(want.Hooks) == 0 {
			continue
		}
		p, _ := hookc.Load(options...)
		text := printed(t, p, filepath.Dir(path))
		file := filepath.Join(t.TempDir(), "printed.yaml")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		got, found := hookc.Compile(host.Input[hookc.Option](source.Input{Path: filepath.Join(filepath.Dir(path), "printed.yaml"), Tier: policy.TierProject, Content: text}), hookc.SkipVerify())
		require.NotNil(t, got, "%s%s", found.Render(), text)
		compared++
		if want.Hash != got.Hash {
			require.Equal(t, explained(t, want), explained(t, got), "%s", text)
			require.True(t, differs(p), "%s\n%s", path, text)
		}
	}
	return compared
}

// differs reports whether a policy says something in words that a single
// hooks.yaml does not have.
func differs(p *policy.Policy) bool {
	for _, h := range p.Hooks {
		if h.Body.Load != nil || h.File != p.Hooks[0].File || h.Dir != filepath.Dir(p.Sources[0].Path) {
			return true
		}
	}
	return false
}

// where is what an explain model says of places, of time, and of the hash.
var where = regexp.MustCompile(`"(?:origin|at|hash|file|compiled_us|line|column)": *[^,}\]]*`)

// explained is what explain shows of a program, without places.
func explained(t *testing.T, p *dag.Program) string {
	t.Helper()
	m := render.Explain(p, render.ExplainOptions{})
	m.Diagnostics, m.Sources = nil, nil
	text, err := json.MarshalIndent(m, "", " ")
	require.NoError(t, err)
	return strings.TrimSpace(where.ReplaceAllString(string(text), fmt.Sprintf("%q: 0", "place")))
}

package casetest

import (
	"context"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// realPolicies are the policies of the seeds, the example, the starter, the guides and
// the scripts, as engines, those in which most mistakes can be made first.
func realPolicies(t *testing.T, most int) []*hookc.Engine {
	t.Helper()
	texts := map[string]string{}
	read := func(patterns ...string) []string {
		var out []string
		for _, p := range patterns {
			files, err := filepath.Glob(p)
			require.NoError(t, err)
			out = append(out, files...)
		}
		return out
	}
	for _, f := range read("../../hooks.example.yaml", "../../cmd/hookc/starter.yaml", "../../tests/testdata/seeds/*.yaml") {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		texts[f] = string(text)
	}
	for _, f := range read("../../tests/testdata/script/*.txtar", "../../tests/loosened/testdata/*.txtar") {
		archive, err := txtar.ParseFile(f)
		require.NoError(t, err)
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".yaml") {
				texts[f+"/"+file.Name] = string(file.Data)
			}
		}
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	for _, f := range read("../../docs/*.md") {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range blocks.FindAllStringSubmatch(string(text), -1) {
			texts[f+"/"+m[1]] = m[1]
		}
	}
	var out []*hookc.Engine
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", texts[name]), hookc.AsFound(), hookc.SkipVerify())
		if err != nil {
			continue // it is no policy, or shows what is wrong with one
		}
		if n := len(mutants(eng.Policy())); n < 5 || n > 120 { // too small, or made for its size
			eng.Close()
			continue
		}
		t.Cleanup(func() { _ = eng.Close() })
		out = append(out, eng)
	}
	sort.SliceStable(out, func(i, j int) bool { return len(mutants(out[i].Policy())) > len(mutants(out[j].Policy())) })
	require.GreaterOrEqual(t, len(out), most)
	return out[:most]
}

// judge decides events that are drawn of the words of a policy alone, without a look
// at what its rules test.
type judge struct {
	*rand.Rand
	words []any
}

func newJudge(p *policy.Policy, seed uint64) *judge {
	j := &judge{Rand: rand.New(rand.NewPCG(seed, 17)), words: []any{0, 1, 7, 400, 6000, true, false, "", []any{"a", "b"}}}
	split := regexp.MustCompile(`"([^"]*)"|'([^']*)'|\d+|[\w./*-]+`)
	for _, h := range p.Hooks {
		texts := []string{h.Body.Source.Value, h.Body.When.Value}
		for _, r := range h.Body.Rules {
			texts = append(texts, r.Condition.Value)
		}
		for _, c := range h.Filter.Conditions {
			texts = append(texts, c.Value.Value)
		}
		for _, w := range split.FindAllString(strings.Join(texts, " "), -1) {
			j.words = append(j.words, strings.Trim(w, `"'`))
		}
	}
	return j
}

func (j *judge) text() any {
	w := j.words[j.IntN(len(j.words))]
	if s, ok := w.(string); ok && j.IntN(2) == 0 {
		if o, also := j.words[j.IntN(len(j.words))].(string); also {
			return s + []string{" ", "", "/"}[j.IntN(3)] + o
		}
	}
	return w
}

func (j *judge) event(event policy.Event) *policy.Context {
	fields := map[string]any{"event": string(event), "cwd": "/repo", "project_root": "/repo"}
	if event.Spec().CanRead(policy.FieldToolName) {
		args := map[string]any{}
		for range 1 + j.IntN(3) {
			args[[]string{"command", "file_path", "content", "url", "timeout", "files"}[j.IntN(6)]] = j.text()
		}
		fields["tool_input"] = args
		fields["tool_name"] = []string{"Bash", "Read", "Write", "Edit", "WebFetch", "mcp__a__b"}[j.IntN(6)]
	}
	for _, f := range []policy.Field{policy.FieldPermissionMode, policy.FieldUserInput, policy.FieldStopReason} {
		if event.Spec().CanRead(f) && j.IntN(2) == 0 {
			fields[f.String()] = j.text()
		}
	}
	in, _, err := policy.ContextFromMap(fields)
	if err != nil {
		return nil
	}
	return in
}

// TestLoosenedByMistake: of mistakes in real policies, whatever holds less back on
// some event is found or said to be unknown. Who says that it does is a judge that
// draws events by chance.
func TestLoosenedByMistake(t *testing.T) {
	engines, each, events := realPolicies(t, 20), 10, 10000
	if !depth.Full() {
		engines, each, events = engines[12:14], 2, 200
	}
	silent := dag.WithTrial(t.Context(), &dag.Trial{Say: func(*policy.Hook) (policy.Result, error, bool) { return policy.Result{}, nil, true }})
	tried, loosened, unknown, other, proved, missed := 0, 0, 0, 0, 0, 0
	for n, eng := range engines {
		list := mutants(eng.Policy())
		rng := rand.New(rand.NewPCG(uint64(n), 2026))
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		done := 0
		for _, m := range list {
			if done == each {
				break
			}
			variant, err := eng.Variant(m.of(eng.Policy()))
			if err != nil {
				continue
			}
			if variant.Program().Hash == eng.Program().Hash {
				variant.Close()
				continue
			}
			done++
			tried++
			r, err := diff.Compare(t.Context(), eng.Program(), variant.Program(), diff.Options{Prove: true, Events: 500})
			require.NoError(t, err)
			found := len(r.Decisions) > 0 && r.Decisions[0].Direction == diff.Loosened
			differs, looser := judged(silent, t, eng, variant, newJudge(eng.Policy(), uint64(n)), m.event, events)
			switch {
			case found:
				loosened++
			case len(r.Unknown(true)) > 0:
				unknown++
				if looser {
					missed++
				}
				t.Logf("policy %d: unknown: %s at %s (judge: %v)", n, m.What, m.At, looser)
			case r.Proved():
				proved++
				assert.False(t, differs, "proved, and differs: %s at %s", m.What, m.At)
			default:
				other++
			}
			assert.False(t, looser && !found && len(r.Unknown(true)) == 0, "held back less: %s at %s\n%s", m.What, m.At, r.Text())
			variant.Close()
		}
	}
	t.Logf("%d mistakes: %d hold less back, with an event; %d unknown (%d of them hold less back); %d differ otherwise; %d proved to change nothing", tried, loosened, unknown, missed, other, proved)
	if depth.Full() {
		assert.GreaterOrEqual(t, tried, 200)
		assert.GreaterOrEqual(t, loosened*10, (loosened+missed)*9, "of those that hold less back")
	}
}

// judged reports whether two engines decide an event otherwise, and whether the second
// holds less back.
func judged(ctx context.Context, t *testing.T, a, b *hookc.Engine, j *judge, event policy.Event, events int) (differs, looser bool) {
	for range events {
		in := j.event(event)
		if in == nil {
			continue
		}
		x, err := a.FireSerial(ctx, event, in)
		y, err2 := b.FireSerial(ctx, event, in)
		if err != nil || err2 != nil {
			continue
		}
		differs = differs || diff.Differ(x, y)
		if diff.Directed(x, y) == diff.Loosened {
			return true, true
		}
	}
	return differs, false
}

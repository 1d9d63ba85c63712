package inert

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
)

// parts cuts a text where one of some words stands outside all brackets and quotes.
func parts(text string, words ...string) []string {
	var out []string
	open, from, quote := 0, 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\' && quote == '"':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			open++
		case strings.IndexByte(")]}", c) >= 0:
			open--
		case open == 0:
			for _, w := range words {
				if strings.HasPrefix(text[i:], w) {
					out, from = append(out, strings.TrimSpace(text[from:i])), i+len(w)
				}
			}
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// mutant is a rule with one of its conditions dropped, negated or widened.
type mutant struct {
	case1
	of      int // the rule, by its place
	dropped string
}

// wider are tests that hold more often.
var wider = strings.NewReplacer(" == ", " != ", "startswith(", "contains(", "endswith(", "contains(", " startsWith ", " contains ", " > ", " <= ", " < ", " >= ")

// mutants are rules that could fire where the rule does not.
func mutants(i int, c case1) []mutant {
	filter, body := "", c.body
	if strings.HasPrefix(body, "f: ") {
		filter, body, _ = strings.Cut(body, "}")
		filter, body = filter+"} ", strings.TrimSpace(body)
	}
	lang, join, not := "r: ", "; ", "not %s"
	words := []string{"; "}
	if strings.HasPrefix(body, "e: ") {
		lang, join, not, words = "e: ", " and ", "!(%s)", []string{" and ", " && "}
	}
	body = strings.TrimPrefix(body, lang)
	if strings.HasPrefix(body, "{ ") && strings.HasSuffix(body, "}") {
		body = body[2 : len(body)-1]
	}
	var out []mutant
	add := func(dropped, filter string, conditions []string) {
		if len(conditions) == 0 {
			conditions = []string{"true"}
		}
		m := c
		m.body = filter + lang + strings.Join(conditions, join)
		out = append(out, mutant{m, i, dropped})
	}
	all := parts(body, words...)
	if filter != "" && body != "" {
		add(strings.Trim(filter, "f:{} "), "", all)
	}
	for j, x := range all {
		if body == "" || strings.HasPrefix(x, "some ") || strings.HasPrefix(x, "let ") || strings.Contains(x, ":=") {
			continue
		}
		add(x, filter, slices.Delete(slices.Clone(all), j, j+1))
		with := func(y string) { add("", filter, append(slices.Clone(all[:j]), append([]string{y}, all[j+1:]...)...)) }
		if inner, negated := strings.CutPrefix(x, "not "); negated {
			with(inner)
		} else {
			with(fmt.Sprintf(not, x))
		}
		if w := wider.Replace(x); w != x {
			with(w)
		}
	}
	return out
}

// compiled is a policy of cases, without those that are refused.
func compiled(t *testing.T, all []case1) *dag.Program {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.json"), []byte(data), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "open.json"), []byte(open), 0o644))
	file := filepath.Join(dir, "hooks.yaml")
	skip := map[string]bool{}
	for {
		require.NoError(t, os.WriteFile(file, []byte(policyOf(all, skip)), 0o644))
		program, found := hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
		if !found.HasErrors() {
			return program
		}
		before := len(skip)
		for _, d := range found {
			if d.Severity == diag.Error {
				skip[d.Hook] = true
			}
		}
		require.Greater(t, len(skip), before, "%s", found.Render())
	}
}

// TestMutantsJudge: what makes a mutant of a rule fire that was proved inert, and what
// is close to it, does not make the rule fire; and a rule without a test that its proof
// names is not proved inert by the same proof.
func TestMutantsJudge(t *testing.T) {
	all := slices.Concat(cases(t, "cases.txt"), cases(t, "unseen.txt"), cases(t, "asked.txt"))
	share := len(all) / depth.Of(len(all))
	all = slices.DeleteFunc(all, func(c case1) bool {
		return !c.inert || c.event != string(policy.PreToolExecution) || c.line%share != 0
	})
	program := compiled(t, all)
	never := map[string]witness.Rule{}
	for _, r := range witness.Find(context.Background(), program, program.Tools) {
		if r.Status == witness.Never {
			never[r.Hook] = r
		}
	}
	var tried []mutant
	for i, c := range all {
		if _, is := never[fmt.Sprintf("c%d", i)]; is {
			tried = append(tried, mutants(i, c)...)
		}
	}
	bodies := make([]case1, len(tried))
	for j, m := range tried {
		bodies[j] = m.case1
	}
	mutated := compiled(t, bodies)
	var events []map[string]any
	named, still := map[int]int{}, map[int]int{}
	for _, r := range witness.Find(context.Background(), mutated, mutated.Tools) {
		var j int
		_, err := fmt.Sscanf(r.Hook, "c%d", &j)
		require.NoError(t, err)
		if r.Witness != nil {
			events = append(events, r.Witness)
		}
		m := tried[j]
		if why := never[fmt.Sprintf("c%d", m.of)].Why; m.dropped != "" && len(why) == 1 && strings.Contains(why[0], m.dropped) {
			named[m.of]++
			if r.Status == witness.Never && slices.Equal(r.Why, why) {
				still[m.of]++
			}
		}
	}
	for of, n := range still {
		assert.Less(t, n, named[of], "%s: whichever of the tests that the proof names is dropped, the same proof is given: %v", all[of].body, never[fmt.Sprintf("c%d", of)].Why)
	}
	t.Logf("%d rules proved inert, %d mutants, %d of them with an event; of %d rules a test that the proof names was dropped", len(never), len(tried), len(events), len(named))
	require.NotEmpty(t, events)
	judge(t, program, never, events, wordsOf(all), depth.Of(10000))
}

// judge runs a policy on events, and on such that are close to them: none of the rules
// that were proved inert may fire.
func judge(t *testing.T, program *dag.Program, never map[string]witness.Rule, events []map[string]any, words []any, n int) {
	plan := program.Plan(policy.PreToolExecution)
	rng := rand.New(rand.NewPCG(17, 2))
	for i := range len(events) + n {
		doc := events[i%len(events)]
		if i >= len(events) {
			doc = mutated(rng, doc, words)
		}
		in := contextOf(t, doc)
		if in == nil {
			continue
		}
		d, _ := executor.Serial(program, plan, in, world{})
		for k := range d.Hooks {
			if d.Hooks[k].Verdict != policy.None {
				name := plan.Nodes[k].Hook.Name
				require.NotContains(t, never, name, "proved inert, and fires on %v", in.Map())
			}
		}
	}
}

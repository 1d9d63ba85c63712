// Package inert holds rules that never fire and rules next to them that do, and asks
// hookc which is which.
package inert

import (
	"context"
	"fmt"
	"maps"
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

// case1 is a rule: its event, its body, and whether it can fire.
type case1 struct {
	class, event, body string
	inert              bool
	line               int
}

func cases(t *testing.T, file string) []case1 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	var out []case1
	class := ""
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			class = line[2:]
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "+ "):
			event, body := string(policy.PreToolExecution), line[2:]
			if strings.HasPrefix(body, "@") {
				event, body, _ = strings.Cut(body[1:], " ")
			}
			out = append(out, case1{class, event, body, line[0] == '-', i + 1})
		}
	}
	return out
}

const data = `{"denylist": ["Bash"], "limits": {"tools": ["Bash", "Write"], "max": 100, "strict": false}, "branches": ["main", "prod"]}`

// open is a document that may come to have more.
const open = `{"open": {"users": {"ann": "admin"}, "tools": ["Bash"], "modes": ["plan"]}}`

const declared = `facts:
  environment: {enum: [dev, prod]}
  user: string
  tier: int
  oncall: bool
  teams: {list: string}
`

// helpers are called by the rules of the class.
const helpers = `
      is_shell if input.tool_name == "Bash"
      is_shell if input.tool_name == "Shell"
      is_git(c) if startswith(c, "git ")
      kind(n) := "short" if count(n) < 5
      else := "long"
      bad := {"rm", "dd"}
      level := 2 if input.tool_name == "Bash"
      else := 1
      words contains w if some w in split(input.command, " ")
`

// policyOf is one hook for each case.
func policyOf(cases []case1, skip map[string]bool) string {
	var b strings.Builder
	b.WriteString("rego: {data: [data.json, {file: open.json, open: true}]}\n" + declared)
	events := map[string]bool{}
	for i, c := range cases {
		if !events[c.event] && !skip[fmt.Sprintf("c%d", i)] {
			events[c.event] = true
			fmt.Fprintf(&b, "%s:\n", c.event)
			for i, other := range cases {
				if other.event == c.event && !skip[fmt.Sprintf("c%d", i)] {
					hookOf(&b, i, other)
				}
			}
		}
	}
	return b.String()
}

// hookOf is the hook of a case.
func hookOf(b *strings.Builder, i int, c case1) {
	filter, body, both := "", c.body, strings.HasPrefix(c.body, "f: ")
	if both {
		filter, body, _ = strings.Cut(c.body[3:], "}")
		filter, body = "filter: "+filter+"}", strings.TrimSpace(body)
	}
	fmt.Fprintf(b, "  - name: c%d\n", i)
	if filter != "" {
		fmt.Fprintf(b, "    %s\n", filter)
	}
	says := "ask"
	if !policy.Event(c.event).Spec().Powers.Has(policy.MayAsk) {
		says = "context"
	}
	switch {
	case strings.HasPrefix(body, "e: ") && says == "context":
		fmt.Fprintf(b, "    when: '%s'\n    context: '"+`"x"`+"'\n", strings.ReplaceAll(body[3:], "'", "''"))
	case strings.HasPrefix(body, "e: "):
		fmt.Fprintf(b, "    ask: '%s'\n    reason: x\n", strings.ReplaceAll(body[3:], "'", "''"))
	case body == "":
		b.WriteString("    command: \"true\"\n    on_error: deny\n")
	default:
		body = strings.TrimPrefix(body, "r: ")
		if !strings.HasPrefix(body, "{ ") {
			body = "{ " + body + " }"
		}
		if says == "context" {
			says = "message"
		}
		fmt.Fprintf(b, "    type: rego\n    source: |\n      package c%d%s      %s contains \"x\" if %s\n", i, helpers, says, body)
	}
}

// TestCorpus: every rule that cannot fire is found, and none that can; of those that
// can there is an event that made it fire.
func TestCorpus(t *testing.T) {
	inert, near := corpus(t, cases(t, "cases.txt"), 0)
	assert.GreaterOrEqual(t, inert, 150)
	assert.GreaterOrEqual(t, near, 150)
}

// TestUnseen is TestCorpus with classes that nobody had looked at before they were
// tried.
func TestUnseen(t *testing.T) {
	inert, near := corpus(t, cases(t, "unseen.txt"), 10)
	assert.GreaterOrEqual(t, inert, 60)
	assert.GreaterOrEqual(t, near, 30)
}

// TestAsked is TestUnseen with other fields, events, enums and idioms for each of the
// mistakes that hookc is to find, and with rules that look odd and can fire.
func TestAsked(t *testing.T) {
	all := cases(t, "asked.txt")
	share := len(all) / depth.Of(len(all))
	inert, near := corpus(t, slices.DeleteFunc(slices.Clone(all), func(c case1) bool { return c.line%share != 0 }), 7)
	if share == 1 {
		assert.GreaterOrEqual(t, inert, 100)
		assert.GreaterOrEqual(t, near, 180)
	}
}

// TestAttacked is TestAsked with rules of which one half was only scored.
func TestAttacked(t *testing.T) {
	all := cases(t, "attacked.txt")
	share := len(all) / depth.Of(len(all))
	inert, near := corpus(t, slices.DeleteFunc(slices.Clone(all), func(c case1) bool { return c.line%share != 0 }), 13)
	if share == 1 {
		assert.Equal(t, []int{75, 53}, []int{inert, near})
	}
}

// corpus asks hookc of all cases. Of some it may say that it does not know, and of
// none what is wrong.
func corpus(t *testing.T, all []case1, unknown int) (inert, near int) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.json"), []byte(data), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "open.json"), []byte(open), 0o644))
	file := filepath.Join(dir, "hooks.yaml")
	compile := func(skip map[string]bool) (*dag.Program, diag.List) {
		require.NoError(t, os.WriteFile(file, []byte(policyOf(all, skip)), 0o644))
		return hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
	}
	program, found := compile(nil)
	refused := map[string]bool{} // by OPA's own types
	for _, d := range found {
		if d.Severity == diag.Error {
			refused[d.Hook] = true
		}
	}
	if len(refused) > 0 {
		if testing.Verbose() {
			t.Log(found.Render())
		}
		program, found = compile(refused)
	}
	require.False(t, found.HasErrors(), "%s", found.Render())
	status, fixes := map[string]witness.Rule{}, 0
	for _, r := range witness.Find(context.Background(), program, program.Tools) {
		status[r.Hook] = r
	}
	for i, c := range all {
		r, there := status[fmt.Sprintf("c%d", i)]
		open := there && r.Status == witness.Unknown && unknown > 0
		if open {
			unknown--
			t.Logf("not known: line %d (%s): %s: %v", c.line, c.class, c.body, r.Why)
		}
		if c.inert {
			inert++
			if open {
				continue
			}
			if there { // a hook whose filter matches nothing is taken out, with a finding (HK150)
				assert.Contains(t, []witness.Status{witness.Never, witness.Unusual}, r.Status, "line %d (%s): %s %v", c.line, c.class, c.body, r)
				assert.NotEmpty(t, r.Why, "%s", c.body)
				if why := strings.Join(r.Why, "; "); !strings.Contains(c.body, `\b`) {
					assert.NotContains(t, strings.SplitN(why, "never `", 2)[0], "backspace", "%s", c.body)
				}
				assert.False(t, r.Span.IsZero() && r.At.IsZero(), "%s", c.body)
				if r.Hint != "" || len(r.Missing) > 0 && r.Missing[0].Meant != "" {
					fixes++
				} else if testing.Verbose() {
					t.Logf("no fix: %s: %s", c.body, r.Why)
				}
			}
			continue
		}
		near++
		if open {
			continue
		}
		assert.Equal(t, witness.Fires, r.Status, "line %d (%s): %s: %v", c.line, c.class, c.body, r.Why)
		assert.NotNil(t, r.Witness, "%s", c.body)
	}
	t.Logf("%d inert, %d of them with a fix, %d that fire", inert, fixes, near)
	return inert, near
}

// TestJudges: no rule that was proved to be inert fires on any of many events, made
// of the witnesses of the others and of all literals of the corpus.
func TestJudges(t *testing.T) {
	all := slices.Concat(cases(t, "cases.txt"), cases(t, "unseen.txt"))
	if depth.Full() {
		all = append(all, cases(t, "asked.txt")...)
	}
	all = slices.DeleteFunc(all, func(c case1) bool { return c.event != string(policy.PreToolExecution) })
	program := compiled(t, all)
	never := map[string]bool{}
	var seeds []map[string]any
	for _, r := range witness.Find(context.Background(), program, program.Tools) {
		never[r.Hook] = r.Status == witness.Never
		if r.Witness != nil {
			seeds = append(seeds, r.Witness)
		}
	}
	words := wordsOf(all)
	plan := program.Plan(policy.PreToolExecution)
	rng := rand.New(rand.NewPCG(17, 1))
	fired := 0
	for range depth.Of(10000) {
		in := contextOf(t, mutated(rng, seeds[rng.IntN(len(seeds))], words))
		if in == nil {
			continue
		}
		d, _ := executor.Serial(program, plan, in, world{})
		for i := range d.Hooks {
			name := plan.Nodes[i].Hook.Name
			if d.Hooks[i].Verdict != policy.None {
				fired++
				require.False(t, never[name], "%s was proved inert, and fires on %v", name, in.Map())
			}
		}
	}
	require.Positive(t, fired)
}

// wordsOf are the literals of rules, and some values more.
func wordsOf(all []case1) []any {
	var words []any
	for _, c := range all {
		for i, part := range strings.FieldsFunc(c.body, func(r rune) bool { return r == '"' || r == '`' }) {
			if i%2 == 1 {
				words = append(words, part)
			}
		}
	}
	return append(words, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, true, false, nil, []any{"a", "b"}, map[string]any{"b": 1.0})
}

// mutated is an event with some of its values changed.
func mutated(rng *rand.Rand, seed map[string]any, words []any) map[string]any {
	out := maps.Clone(seed)
	args, _ := out["tool_input"].(map[string]any)
	args = maps.Clone(args)
	out["tool_input"] = args
	for range 1 + rng.IntN(3) {
		v := words[rng.IntN(len(words))]
		switch rng.IntN(5) {
		case 0:
			out["tool_name"] = []any{"Bash", "Shell", "Read", "Write", "Edit", "WebFetch", "mcp__a__b", "other", "bash"}[rng.IntN(9)]
		case 1:
			out[[]string{"cwd", "permission_mode", "project_root", "source"}[rng.IntN(4)]] = v
		default:
			args[[]string{"command", "file_path", "content", "url", "n", "mode", "files", "a", "b", "opts", "timeout", "force"}[rng.IntN(12)]] = v
		}
	}
	return out
}

func contextOf(t *testing.T, doc map[string]any) *policy.Context {
	t.Helper()
	text, err := policy.EncodeJSON(doc)
	require.NoError(t, err)
	in, _, err := policy.DecodeContext(text)
	if err != nil {
		return nil
	}
	in = in.Frozen(policy.PreToolExecution)
	if in.Unfit(policy.PreToolExecution) != nil {
		return nil
	}
	return in
}

// world runs rules.
type world struct{}

func (world) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	if n.Hook.Kind == policy.KindBash {
		return policy.Result{}, nil
	}
	r, err := n.Runner.Run(context.Background(), in, attempt)
	if err != nil {
		return policy.Result{}, nil // a rule that fails does not fire
	}
	return r, nil
}
func (world) Late(*dag.Node) int                   { return -1 }
func (world) Memo(string) (*executor.Answer, bool) { return nil, false }
func (world) Store(string, *executor.Answer)       {}

package laws

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// Laws 36 and 37: diff(p,p) is empty; every reported change carries a witness on
// which old and new really differ; every tool reported always-deny is denied on
// all generated events of that tool. Broken by hand, one at a time: a witness
// that is made shorter and not asked again, the text of another event as the
// witness, always-deny that does not look at the rest of the filter, or not at
// hooks that ask before it under decisive. Each was caught here.

const (
	lawDiffPolicies = 60
	lawDiffEvents   = 150
)

// ruleText draws hooks.yaml files of rules: expr and Rego, with filters, that
// deny, ask and allow, some without a condition.
type ruleText struct{ *rand.Rand }

func (g ruleText) one(list ...string) string { return list[g.IntN(len(list))] }

func (g ruleText) condition() string {
	switch g.IntN(5) {
	case 0:
		return "true"
	case 1:
		return fmt.Sprintf("tool_input.n > %d", g.IntN(40))
	case 2:
		return fmt.Sprintf("tool_name == %q", g.one("Bash", "Edit", "Zed"))
	case 3:
		return fmt.Sprintf("tool_input.command startsWith %q and tool_input.n == %d", g.one("git", "zig", "rm -r"), g.IntN(4))
	}
	return fmt.Sprintf("tool_input.command contains %q", g.one("zap", "push", "sudo", "-f"))
}

func (g ruleText) rego() string {
	var b strings.Builder
	b.WriteString("package p\n")
	for range 1 + g.IntN(3) {
		test := g.one(`startswith(input.tool_input.command, "zig")`, `input.tool_name == "Edit"`, `regex.match("^a+b$", input.tool_input.command)`,
			`input.tool_input.n < 3`, `count(input.tool_input.command) > 30`, `input.permission_mode in {"plan", "zen"}`)
		fmt.Fprintf(&b, "      %s contains %q if %s\n", g.one("deny", "ask", "allow"), g.one("r1", "r2"), test)
	}
	return b.String()
}

// hooks are the lines of a policy, one hook each.
func (g ruleText) hooks() []string {
	var out []string
	for i := range 1 + g.IntN(5) {
		filter := g.one("", "", "filter: {tool_name: Bash}, ", `filter: {tool_matcher: "Edit|Zed"}, `, "filter: {tool_kind: shell}, ", "filter: {tool_name: Zed, command: ^z}, ")
		if g.IntN(3) == 0 {
			out = append(out, fmt.Sprintf("  - {name: h%d, type: rego, %ssource: %q}", i, filter, g.rego()))
			continue
		}
		out = append(out, fmt.Sprintf("  - {name: h%d, type: expr, %s%s: '%s', reason: %s}", i, filter, g.one("deny", "deny", "ask", "allow"), g.condition(), g.one("r1", "r2")))
	}
	return out
}

// policy is a policy of hooks, under a strategy.
func (g ruleText) policy(strategy string, hooks []string) string {
	if len(hooks) == 0 {
		return "pre_tool_execution:\n strategy: " + strategy + "\n hooks: []\n"
	}
	return "pre_tool_execution:\n strategy: " + strategy + "\n hooks:\n" + strings.Join(hooks, "\n") + "\n"
}

// edited is hooks with one added, taken away, moved or drawn anew.
func (g ruleText) edited(hooks []string) []string {
	out := append([]string{}, hooks...)
	i := g.IntN(len(out))
	switch fresh := g.hooks()[0]; g.IntN(4) {
	case 0:
		return append(out, strings.Replace(fresh, "name: h0", "name: new", 1))
	case 1:
		return append(out[:i], out[i+1:]...)
	case 2:
		out[i], out[0] = out[0], out[i]
	default:
		out[i] = strings.Replace(fresh, "name: h0", fmt.Sprint("name: h", i), 1)
	}
	return out
}

func diffOf(t *testing.T, old, new *dag.Program) *diff.Report {
	t.Helper()
	r, err := diff.Compare(t.Context(), old, new, diff.Options{Events: lawDiffEvents})
	require.NoError(t, err)
	return r
}

func rulesOf(t *testing.T, text string) *hookc.Engine {
	t.Helper()
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text), hookc.SkipVerify())
	require.NoError(t, err, text)
	t.Cleanup(func() { _ = eng.Close() })
	return eng
}

// TestNothingDiffersFromItself: law 36, of what is in the repository and of
// random policies, compiled twice.
func TestNothingDiffersFromItself(t *testing.T) {
	files, err := filepath.Glob("../testdata/seeds/*.yaml")
	require.NoError(t, err)
	for _, f := range append(files, "../../hooks.example.yaml") {
		t.Run(filepath.Base(f), func(t *testing.T) {
			var programs []*dag.Program
			for range 2 {
				p, found := hookc.Compile(hookc.Files(f), hookc.SkipVerify())
				require.False(t, found.HasErrors(), found.Render())
				programs = append(programs, p)
			}
			r := diffOf(t, programs[0], programs[1])
			assert.True(t, r.Empty(), "%+v", r)
			assert.True(t, r.Same)
		})
	}
	for seed := range depth.Daily(uint64(lawDiffPolicies)) {
		g := ruleText{rand.New(rand.NewPCG(seed, 36))}
		text := g.policy("chain", g.hooks())
		r := diffOf(t, rulesOf(t, text).Program(), rulesOf(t, text).Program())
		require.True(t, r.Empty(), "%s%+v", text, r)
	}
}

// TestWitnessesReallyDiffer: law 36, by engines of their own: as a host would
// ask them, and by the serial definition.
func TestWitnessesReallyDiffer(t *testing.T) {
	witnesses := 0
	for seed := range depth.Daily(uint64(lawDiffPolicies)) {
		g := ruleText{rand.New(rand.NewPCG(seed, 361))}
		hooks := g.hooks()
		strategy := g.one("chain", "chain", "decisive", "chain-all", "first", "parallel-last")
		old, new := rulesOf(t, g.policy(strategy, hooks)), rulesOf(t, g.policy(strategy, g.edited(hooks)))
		for _, c := range diffOf(t, old.Program(), new.Program()).Decisions {
			in, event, err := policy.DecodeContext(c.Witness)
			require.NoError(t, err)
			require.Equal(t, string(c.Event), event)
			for _, fire := range []func(*hookc.Engine) (*policy.Decision, error){
				func(e *hookc.Engine) (*policy.Decision, error) { return e.Fire(t.Context(), c.Event, in) },
				func(e *hookc.Engine) (*policy.Decision, error) { return e.FireSerial(t.Context(), c.Event, in) },
			} {
				a, err := fire(old)
				require.NoError(t, err)
				b, err := fire(new)
				require.NoError(t, err)
				require.True(t, diff.Differ(a, b), "seed %d: %s", seed, c.Witness)
				require.Equal(t, []policy.Action{c.From, c.To}, []policy.Action{a.Action, b.Action}, "seed %d: %s", seed, c.Witness)
				require.False(t, diff.Differ(a, c.Old) || diff.Differ(b, c.New), "seed %d: %s", seed, c.Witness)
			}
			witnesses++
		}
	}
	assert.Greater(t, witnesses, depth.Daily(lawDiffPolicies), "too few differences for a law")
}

// TestAlwaysDeniedIsDenied: law 37, on events of the tool that are drawn
// without a look at the policy.
func TestAlwaysDeniedIsDenied(t *testing.T) {
	tools, reported := []string{"Bash", "Edit", "Zed", "Read"}, 0
	for seed := range depth.Daily(uint64(2 * lawDiffPolicies)) {
		g := ruleText{rand.New(rand.NewPCG(seed, 37))}
		hooks := g.hooks()
		always := "  - {name: always, type: expr, filter: {" + g.one("tool_name: Zed", "tool_name: Zed, command: ^z", "tool_kind: shell") + `}, deny: "true", reason: no}`
		text := g.policy(g.one("chain", "decisive", "decisive", "decisive", "chain-all", "first", "parallel-last"), slices.Insert(hooks, g.IntN(len(hooks)+1), always))
		eng := rulesOf(t, text)
		for _, d := range diff.AlwaysDenied(eng.Program(), tools) {
			reported++
			for range 40 {
				in := policy.NewContext(d.Event).Set(policy.FieldToolName, d.Tool).Set(policy.FieldPermissionMode, g.one("plan", "zen", "default"))
				if g.IntN(6) > 0 {
					in.Set(policy.FieldToolInput, map[string]any{"n": g.IntN(45), "command": g.one("git zap", "zig", "rm -r -f x", "sudo push", "aab", strings.Repeat("y", 33), "")})
				}
				got, err := eng.Fire(t.Context(), d.Event, in)
				require.NoError(t, err)
				require.Contains(t, []policy.Action{policy.Block, policy.Abort, policy.EndTurn}, got.Action, "seed %d: %s is always denied by %s\n%s", seed, d.Tool, d.By, text)
			}
		}
	}
	assert.Greater(t, reported, depth.Daily(lawDiffPolicies/2), "too few tools for a law")
}

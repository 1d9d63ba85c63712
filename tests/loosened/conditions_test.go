package loosened

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/policy"
)

// narrowed are conditions, what each becomes, and the event that the first holds back
// and the second does not: what a value demands of its parts, and what automata and
// floats cannot hold.
var narrowed = []struct{ old, new, event string }{
	{`b == 1`, `x := [a]; b == 1`, `{"b": 1}`},
	{`b == 1`, `x := {"k": a}; b == 1`, `{"b": 1}`},
	{`b == 1`, `x := {a}; b == 1`, `{"b": 1}`},
	{`b == 1`, `count([a, 1]) == 2; b == 1`, `{"b": 1}`},
	{`b == 1`, `some _ in [a]; b == 1`, `{"b": 1}`},
	{`b == 1`, `some x in [a, 1]; b == x`, `{"b": 1}`},
	{`b == 1`, `b in [1, a]`, `{"b": 1}`},
	{`b == 1`, `b in {1, a}`, `{"b": 1}`},
	{`b == 1`, `{"k": b, "z": a}.k == 1`, `{"b": 1}`},
	{`b == 1`, `[b, a][0] == 1`, `{"b": 1}`},
	{`b == 1`, `[[a], b][1] == 1`, `{"b": 1}`},
	{`b == 1`, `object.get(a, "k", 1) == 1; b == 1`, `{"b": 1}`},
	{`b == 1`, `object.get({"b": b, "a": a}, "b", 2) == 1`, `{"b": 1}`},
	{`b == 1`, `array.concat([b], [a])[0] == 1`, `{"b": 1}`},
	{`b == 1`, `f(a, b)`, `{"b": 1}`},
	{`b == 1`, `g([a, b]) == 1`, `{"b": 1}`},
	{`b == 1`, `pair[0] == 1`, `{"b": 1}`},
	{`b == 1`, `y := a; b == 1`, `{"b": 1}`},
	{`b == 1`, `not a == 1; b == 1`, `{"b": 1, "a": 1}`},
	{`is_string(b)`, `is_string(b); not b in data.few`, `{"b": "x1"}`},
	{`not b in data.few; is_string(b)`, `not b in data.many; is_string(b)`, `{"b": "host-7-long-name.example.com"}`},
	{`not contains(b, "ab"); is_string(b)`, `not contains(b, data.long); not contains(b, "a"); is_string(b)`, `{"b": "a"}`},
	{`b > 0.1`, `b > 0.1000000000000000001`, `{"b": 0.1000000000000000001}`},
	{`b >= 9007199254740992`, `b >= 9007199254740993`, `{"b": 9007199254740992}`},
	{`b > 4`, `b > 4; b + 1 > 5.000000000000000000000000001`, `{"b": 4.0000000000000000000000000001}`},
	{`glob.match("[^a]", [], b)`, `glob.match("[!b]", [], b); b != "^"`, `{"b": "^"}`},
	{`t[b] == 1`, `t[b] == 1; b != "k2"`, `{"b": "k2"}`},
	{`s[b]["x"]`, `s[b]["x"]; b == "m"`, `{"b": "n"}`},
	{`e: b == 1`, `e: b in [1, a]`, `{"b": 1}`},
	{`e: b == 1`, `e: [b, a][0] == 1`, `{"b": 1}`},
	{`e: b == 1`, `e: [[a], b][1] == 1`, `{"b": 1}`},
	{`e: b == 1`, `e: len([a]) == 1 and b == 1`, `{"b": 1}`},
	{`e: b == 1`, `e: any([1, a], # == b)`, `{"b": 1}`},
	{`e: b == 1`, `e: all([a, b], # == 1)`, `{"b": 1}`},
	{`e: b == 1`, `e: let x = a; b == 1 and x == x`, `{"b": 1}`},
	{`e: b == 1`, `e: b == 1 and (b == 1 ? a == 1 : true)`, `{"b": 1}`},
	{`e: b == 1`, `e: b == 1 and (a ?? 1) == 2`, `{"b": 1}`},
	{`e: b == 1`, `e: b == 1 and ("x" + a) != ""`, `{"b": 1}`},
	{`e: b == 1`, `e: b == 1 and (a == 1 or b == 1) and a != 2`, `{"b": 1}`},
	{`e: b >= 9007199254740992`, `e: b >= 9007199254740993`, `{"b": 9007199254740992}`},
	{`e: b startsWith "r"`, `e: b startsWith "r" and b[0] == 115`, `{"b": "r"}`},
	{`{a, b} == {1}`, `{a, b} == {1}; a != 1`, `{"a": 1, "b": 1}`},
}

const narrowedHelpers = `
      f(_, y) if y == 1
      g([_, y]) := y
      pair := [input.tool_input.b, input.tool_input.a]
      t[k] := 1 if some k in ["k1", "k2"]
      s[k] contains "x" if some k in ["m", "n"]
`

// field is a field in the conditions.
var field = regexp.MustCompile(`\b[ab]\b`)

// TestNarrowed: where a rule comes to hold less, it is never said that the change
// cannot loosen the policy.
func TestNarrowed(t *testing.T) {
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprintf("host-%d-long-name.example.com", i))
	}
	few, _ := json.Marshal([]string{"x1", "x2"})
	all, _ := json.Marshal(many)
	policyOf := func(condition string) string {
		parts := strings.Split(condition, `"`)
		for i := 0; i < len(parts); i += 2 {
			parts[i] = field.ReplaceAllString(parts[i], "input.tool_input.$0")
		}
		condition = strings.ReplaceAll(strings.Join(parts, `"`), "input.tool_input", "tool_input")
		if rule, is := strings.CutPrefix(condition, "e: "); is {
			return fmt.Sprintf("-- hooks.yaml --\npre_tool_execution:\n  - {name: one, deny: '%s', reason: x}\n", rule)
		}
		condition = strings.ReplaceAll(condition, "tool_input", "input.tool_input")
		return fmt.Sprintf("-- hooks.yaml --\nrego: {data: [data.json]}\npre_tool_execution:\n  - name: one\n    type: rego\n    source: |\n      package one%s      deny contains \"x\" if { %s }\n-- data.json --\n{\"few\": %s, \"many\": %s, \"long\": %q}\n",
			narrowedHelpers, condition, few, all, strings.Repeat("ab", 2100))
	}
	for _, c := range narrowed {
		a, _ := compiled(t, policyOf(c.old))
		b, _ := compiled(t, policyOf(c.new))
		if a == nil || b == nil {
			continue
		}
		assert.Equal(t, []bool{true, false}, []bool{denies(t, a, c.event), denies(t, b, c.event)}, "%s => %s on %s", c.old, c.new, c.event)
		r, err := diff.Compare(t.Context(), a, b, diff.Options{Prove: true, Events: 20})
		require.NoError(t, err)
		loosened := len(r.Decisions) > 0 && r.Decisions[0].Direction == diff.Loosened
		assert.True(t, loosened || len(r.Unknown(true)) > 0, "%s => %s on %s: %s", c.old, c.new, c.event, r.Text())
	}
}

// denies reports whether a policy refuses a call with some arguments.
func denies(t *testing.T, p *dag.Program, args string) bool {
	t.Helper()
	in, _, err := policy.DecodeContext([]byte(`{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": ` + args + `}`))
	require.NoError(t, err)
	d, _ := executor.Serial(p, p.Plan(policy.PreToolExecution), in.Frozen(policy.PreToolExecution), world{})
	return d.Verdict == policy.Deny
}

// world runs rules.
type world struct{}

func (world) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	return n.Runner.Run(context.Background(), in, attempt)
}
func (world) Late(*dag.Node) int                   { return -1 }
func (world) Memo(string) (*executor.Answer, bool) { return nil, false }
func (world) Store(string, *executor.Answer)       {}

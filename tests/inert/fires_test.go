package inert

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
)

// fires are rules, each with an event on which it fires: what automata, floats and
// constants cannot say must not come to a proof.
var fires = []struct{ rule, event string }{
	// Numbers that a float64 does not hold.
	{`r: { is_number(input.tool_input.n); input.tool_input.n == data.huge }`, `{"n": 12345678901234567890}`},
	{`r: { is_number(input.tool_input.n); input.tool_input.n > data.huge }`, `{"n": 12345678901234567891}`},
	{`r: { input.tool_input.n == 0.1; input.tool_input.n != 0.1000000000000000000001 }`, `{"n": 0.1}`},
	{`r: { input.tool_input.n != 9007199254740992; input.tool_input.n == 9007199254740993 }`, `{"n": 9007199254740993}`},
	{`r: { input.tool_input.n > 0.1; input.tool_input.n == data.fine }`, `{"n": 0.10000000000000000001}`},
	{`r: input.tool_input.o == data.nested`, `{"o": {"n": 100000000000000000000}}`},
	{`e: tool_input.n != 9007199254740992 and tool_input.n == 9007199254740993`, `{"n": 9007199254740993}`},
	// Sums that are rounded.
	{`r: { input.tool_input.n == 0.2; input.tool_input.n + 0.1 == 0.3 }`, `{"n": 0.2}`},
	{`r: { input.tool_input.n > 0; input.tool_input.n + 1 == 1 }`, `{"n": 1e-30}`},
	{`e: tool_input.n > 0 and tool_input.n + 1 == 1`, `{"n": 1e-17}`},
	{`e: tool_input.n == 0.5 and tool_input.n + 10000000000000000.0 == 10000000000000000.0`, `{"n": 0.5}`},
	{`e: tool_input.n == 0.3 and tool_input.n - 0.1 == 0.19999999999999998`, `{"n": 0.3}`},
	// What is too large for an automaton, and not.
	{`r: { input.tool_input.host; not input.tool_input.host in data.hosts }`, `{"host": "example.org"}`},
	{`r: { is_string(input.tool_input.host); not contains(input.tool_input.host, data.long) }`, `{"host": "example.org"}`},
	{`r: { is_string(input.tool_input.host); not startswith(input.tool_input.host, data.long) }`, `{"host": "example.org"}`},
	{`r: { input.tool_input.host; not regex.match("^(a|b)*a(a|b){14}$", input.tool_input.host) }`, `{"host": "example.org"}`},
	{`r: { is_string(input.tool_input.host); not input.tool_input.host in data.hosts }`, `{"host": "example.org"}`},
	{`r: { startswith(input.tool_input.host, "e"); not input.tool_input.host in data.hosts; not contains(input.tool_input.host, data.long) }`, `{"host": "example.org"}`},
	{`r: { startswith(input.tool_input.host, "e"); not strings.any_prefix_match(input.tool_input.host, [data.long]) }`, `{"host": "example.org"}`},
	{`r: { startswith(input.tool_input.host, "e"); trim_prefix(input.tool_input.host, data.long) == "ex" }`, `{"host": "ex"}`},
	{`e: tool_input.host startsWith "e" and not (tool_input.host in LIST)`, `{"host": "example.org"}`},
	{`e: tool_input.host startsWith "e" and not (tool_input.host contains "LONG")`, `{"host": "example.org"}`},
	// Sets in another order.
	{`r: { x := "b"; {x, "a"} == {"a", "b"}; input.tool_input.mode == "x" }`, `{"mode": "x"}`},
	{`r: { some x in ["a", "b"]; {x, "a"} == {"a"}; input.tool_input.mode == x }`, `{"mode": "a"}`},
	{`r: { {input.tool_input.mode, "a"} == {"a"} }`, `{"mode": "a"}`},
	{`r: { s := {input.tool_input.a, input.tool_input.b}; count(s) == 1 }`, `{"a": 1, "b": 1}`},
	// Tables of more than one level.
	{`r: { cfg[input.tool_input.mode].n == 5 }`, `{"mode": "shell"}`},
	{`r: { cfg[input.tool_input.mode].n == 5; not cfg[input.tool_input.mode].m }`, `{"mode": "shell"}`},
	{`r: { roles[input.tool_input.mode]["ann"] }`, `{"mode": "ops"}`},
	{`r: { some k; roles[k][input.tool_input.user] }`, `{"user": "ann"}`},
	{`r: { names[input.tool_input.mode] == "short"; count(input.tool_input.mode) == 2 }`, `{"mode": "rm"}`},
	{`r: { deep.a[input.tool_input.mode].c.d }`, `{"mode": "b"}`},
	{`r: { t := cfg[input.tool_input.mode]; t.n == 5; not t.m }`, `{"mode": "shell"}`},
	{`r: { count(roles[input.tool_input.mode]) == 2 }`, `{"mode": "ops"}`},
	{`r: { fn(input.tool_input.mode).x == "rmx" }`, `{"mode": "rm"}`},
	{`r: { deep.e.f == 7; input.tool_input.mode == "b" }`, `{"mode": "b"}`},
	{`r: { some x; deep[x].f == 7; input.tool_input.mode == x }`, `{"mode": "e"}`},
	// Globs.
	{`r: glob.match("[a!]x", [], input.tool_input.mode); input.tool_input.mode != "ax"`, `{"mode": "!x"}`},
	{`r: { glob.match("a.*", [], input.tool_input.mode); not startswith(input.tool_input.mode, "a.b") }`, `{"mode": "a."}`},
	{`r: { glob.match("{a,b}/**", ["/"], input.tool_input.mode); not startswith(input.tool_input.mode, "a") }`, `{"mode": "b/"}`},
	// Texts and their parts, in expr.
	{`e: tool_input.mode[0] == 114 and tool_input.mode startsWith "r"`, `{"mode": "rm"}`},
	{`e: tool_input.files[-1] == "a" and tool_input.files == ["a"]`, `{"files": ["a"]}`},
	{`e: ["a", "b"][-1] == tool_input.mode`, `{"mode": "b"}`},
	{`e: split(tool_input.mode, " ", 2)[1] == "b c"`, `{"mode": "a b c"}`},
	{`e: "mode" in tool_input and tool_input.mode == nil`, `{"mode": null}`},
	{`e: tool_input.mode == "" ? tool_input.n == 1 : tool_input.n == 2`, `{"mode": "x", "n": 2}`},
	{`e: trim(tool_input.mode, "x") == "a" and tool_input.mode == "xax"`, `{"mode": "xax"}`},
	{`e: replace(tool_input.mode, "", "x") == "xax"`, `{"mode": "a"}`},
	{`e: tool_input.n % 2 == -1`, `{"n": -3}`},
	{`e: let x = tool_input.n; x > 1 and (x == 2 or x == 3) and x != 2`, `{"n": 3}`},
	{`e: one(tool_input.files, # == "a") and len(tool_input.files) == 3`, `{"files": ["a", "b", "c"]}`},
	{`e: all(tool_input.files, # == "a") and not ("a" in tool_input.files)`, `{"files": []}`},
	{`e: none(tool_input.files, # == "a") and len(tool_input.files) == 0`, `{"files": []}`},
	{`e: any(tool_input.files, any(#, # == "a")) and tool_input.files[0][1] == "a"`, `{"files": [["b", "a"]]}`},
	{`e: indexOf(tool_input.mode, "é") == 2 and tool_input.mode startsWith "é"`, ``},
	// Values of other kinds.
	{`r: { input.tool_input.n < input.tool_input.s; is_string(input.tool_input.s); input.tool_input.n > 1e300 }`, `{"n": 1e301, "s": ""}`},
	{`r: { object.get(input.tool_input.x, 0, "none") == "a" }`, ``},
	{`r: { object.get(input.tool_input, ["x", 0], "none") == "a" }`, `{"x": ["a"]}`},
	{`r: { x := input.tool_input; x.a.b == "c"; object.get(x, ["a", "b"], "") == "c" }`, `{"a": {"b": "c"}}`},
	{`r: { split(input.tool_input.mode, "aa")[1] == "a" }`, `{"mode": "aaa"}`},
	{`r: { split(input.tool_input.mode, "")[1] == "b" }`, `{"mode": "abc"}`},
	{`r: { substring(input.tool_input.mode, 5, 2) == ""; count(input.tool_input.mode) == 3 }`, `{"mode": "abc"}`},
	{`r: { substring(input.tool_input.mode, 1, -1) == "bc" }`, `{"mode": "abc"}`},
	{`r: { trim(input.tool_input.mode, "ab") == "c"; startswith(input.tool_input.mode, "ba") }`, `{"mode": "bac"}`},
	{`r: { trim_space(input.tool_input.mode) == "a"; not regex.match("^[ \\ta]*$", input.tool_input.mode) }`, `{"mode": "\u2003a"}`},
	{`r: { lower(input.tool_input.mode) == "i̇" }`, ``},
	{`r: { upper(input.tool_input.mode) == "ŉ" }`, `{"mode": "ŉ"}`},
	{`r: { lower(upper(input.tool_input.mode)) != lower(input.tool_input.mode) }`, `{"mode": "ſ"}`},
	{`r: { indexof(input.tool_input.mode, "b") == 1; not contains(input.tool_input.mode, "ab") }`, `{"mode": "cb"}`},
	{`r: { format_int(input.tool_input.n, 10) == "1"; input.tool_input.n > 1 }`, `{"n": 1.5}`},
	{`r: { to_number(input.tool_input.n) == 1; is_string(input.tool_input.n); input.tool_input.n != "1" }`, `{"n": "1.0"}`},
	{`r: { sprintf("%d", [input.tool_input.n]) == "3"; is_number(input.tool_input.n) }`, `{"n": 3}`},
	{`r: { sprintf("%v-%v", [input.tool_input.a, input.tool_input.b]) == "1-x" }`, `{"a": 1, "b": "x"}`},
	{`r: { regex.match("^a$", input.tool_input.mode) == false; input.tool_input.mode == "a\n" }`, `{"mode": "a\n"}`},
	{`r: { regex.match("(?m)^a$", input.tool_input.mode); input.tool_input.mode != "a" }`, `{"mode": "a\nb"}`},
	{`r: { regex.match("a.b", input.tool_input.mode) == false; contains(input.tool_input.mode, "a\nb") }`, `{"mode": "a\nb"}`},
	{`r: { walk(input.tool_input, [["a", "b"], v]); v == 1 }`, `{"a": {"b": 1}}`},
	{`r: { every k, _ in input.tool_input { k != "x" }; input.tool_input.y == 1 }`, `{"y": 1}`},
	{`r: { input.tool_input.s < "b"; input.tool_input.s > "a" }`, `{"s": "aa"}`},
	{`e: tool_input.s < "b" and tool_input.s > "a" and not (tool_input.s startsWith "a")`, ``},
	{`e: tool_input.s >= "é" and tool_input.s < "ê"`, `{"s": "éa"}`},
}

// firesHelpers are rules that some of them use.
const firesHelpers = `
      cfg[k].n := 5 if some k in ["shell", "read"]
      cfg[k].m := 6 if some k in ["read"]
      names[k] := "short" if some k in ["rm", "dd"]
      names[k] := "long" if some k in ["parted"]
      deep.a.b.c.d := true
      deep.e.f := 7
      fn(x) := {"x": concat("", [x, "x"])}
      roles[team] contains user if { some team in ["ops", "dev"]; some user in ["ann", "bob"] }
`

// TestFires: no rule is proved inert that fires on an event.
func TestFires(t *testing.T) {
	hosts := make([]string, 300)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("host-%d-%d.example.com", i*7919%1000, i)
	}
	list, err := json.Marshal(hosts)
	require.NoError(t, err)
	dir, long := t.TempDir(), strings.Repeat("ab", 3000)
	document := fmt.Sprintf(`{"huge": 12345678901234567890, "fine": 0.10000000000000000001, "nested": {"n": 100000000000000000000}, "hosts": %s, "long": %q}`, list, long)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.json"), []byte(document), 0o644))
	var b strings.Builder
	b.WriteString("rego: {data: [data.json]}\npre_tool_execution:\n")
	for i, c := range fires {
		body := strings.NewReplacer("LIST", string(list), "LONG", long).Replace(c.rule[3:])
		if c.rule[0] == 'e' {
			fmt.Fprintf(&b, "  - {name: c%d, ask: '%s', reason: x}\n", i, strings.ReplaceAll(body, "'", "''"))
			continue
		}
		if !strings.HasPrefix(body, "{ ") {
			body = "{ " + body + " }"
		}
		fmt.Fprintf(&b, "  - name: c%d\n    type: rego\n    source: |\n      package c%d%s      ask contains \"x\" if %s\n", i, i, firesHelpers, body)
	}
	file := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	program, found := hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
	require.False(t, found.HasErrors(), "%s", found.Render())
	answers := map[string]witness.Rule{}
	for _, r := range witness.Find(t.Context(), program, program.Tools) {
		answers[r.Hook] = r
	}
	plan := program.Plan(policy.PreToolExecution)
	judged := 0
	for i, c := range fires {
		name := fmt.Sprintf("c%d", i)
		r := answers[name]
		if c.event != "" {
			judged++
			in := contextOf(t, map[string]any{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": json.RawMessage(c.event)})
			d, _ := executor.Serial(program, plan, in, world{})
			for _, h := range d.Hooks {
				assert.False(t, h.Name == name && h.Verdict == policy.None, "%s does not fire on %s", c.rule, c.event)
			}
			assert.NotContains(t, []witness.Status{witness.Never, witness.Unusual}, r.Status, "%s fires on %s: %v", c.rule, c.event, r.Why)
		}
		t.Logf("%s: %s %v %v", r.Status, c.rule, r.Why, r.Witness)
	}
	t.Log(judged, "judged")
}

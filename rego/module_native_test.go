package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// nativelyOf is a hook's Rego as native code, all of it.
func nativelyOf(t testing.TB, name, source string) (*Module, *Native) {
	t.Helper()
	m := compiled(t, inline(name, policy.PreToolExecution, "package p\n"+source))
	n, engine := m.Native()
	require.NotNil(t, n, engine)
	return m, n
}

// nativeSources are policies of every shape.
var nativeSources = slices.Concat(fusedSources, []string{
	`deny contains "b" if input.tool_name == "Bash"
deny contains "a" if input.tool_name
deny contains "b" if input.tool_input.command == "x"
deny contains {"reason": "a", "n": 1} if input.tool_input.force
deny contains {"msg": "z", "n": 2} if input.tool_input.command`,
	`default deny := "none"
deny := ["two", "one", "two"] if input.tool_input.command == "x"
else := {"b", "a"} if input.tool_input.command == "y"
else := {"reason": "obj"} if input.tool_input.command == "z"
else := false if input.tool_input.force == false`,
	`deny := x if { x := input.tool_input.command; x != "z" }
deny := "z" if input.tool_input.force == true`,
	`ask contains msg if { some i, c in input.tool_input; msg := sprintf("%v=%v", [i, c]) }
skip if input.tool_input.force
stop := "s" if input.tool_input.command == "y"`,
	`context contains json.marshal(input)
feedback contains sprintf("%v", [input.tool_input])`,
	`patch.tool_input := {"command": "c"} if input.tool_input.command == "x"`,
	`result.decision := "deny" if input.tool_input.command == "x"`,
	`patch := {concat("", [x, "s"]): 1} if x := input.tool_input.command`,
	`deny contains 1 if input.tool_input.command == "x"
deny contains "ok" if input.tool_input.command == "y"`,
	`deny contains "div" if 1 / input.tool_input.n > 0
context contains "c" if input.tool_name`,
	`deny contains "crypto" if crypto.sha256(input.tool_input.command) == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"`,
	`deny contains "number" if input.tool_input.n == 1.5
deny contains format_int(input.tool_input.n, 10) if input.tool_input.n > 1
deny contains sprintf("%v", [input.tool_input.n])`,
})

var nativeEvents = func() (out []*policy.Context) {
	for _, command := range []any{"x", "y", "z", "x y", nil, 7, []any{"x"}} {
		for _, force := range []any{nil, true, false} {
			input := map[string]any{"n": 1.5}
			if command != nil {
				input["command"] = command
			}
			if force != nil {
				input["force"], input["n"] = force, 0
			}
			out = append(out, call("Bash", input), call("Edit", input))
		}
	}
	for _, n := range []any{1e20, 1234567.5, 1e21, 1e-7, math.Copysign(0, -1), 12345678901234567, json.Number("1.50"), json.Number("1e400"), int64(3), float32(2.5), []string{"a"}, map[string]string{"b": "c"}} {
		out = append(out, call("Bash", map[string]any{"n": n}))
	}
	return out
}()

// Whatever a module says natively is what it says by topdown, the line of each
// reason and each failure included. Killed by the line of another rule, by a
// slot of another path and by a failure taken for silence.
func TestNativeSaysWhatTopdownSays(t *testing.T) {
	spoke, failed := 0, 0
	for i, s := range nativeSources {
		m := compiled(t, inline(fmt.Sprint("h", i), policy.PreToolExecution, "package p\n"+s))
		n, engine := m.Native()
		if n == nil {
			assert.Contains(t, s, "result.decision", engine)
			continue
		}
		for _, in := range nativeEvents {
			got, gotErr := n.Run(t.Context(), in, 0)
			want, wantErr := m.Run(t.Context(), in, 0)
			require.Equal(t, wantErr, gotErr, "%s\n%v", s, in.Map())
			require.Equal(t, want, got, "%s\n%v", s, in.Map())
			switch {
			case wantErr != nil:
				failed++
			case !want.Quiet():
				spoke++
			}
		}
	}
	assert.Greater(t, spoke, 300)
	assert.Greater(t, failed, 30)
}

// Fused natives say what each says by itself.
func TestFusedNativeSaysWhatEachSays(t *testing.T) {
	var members []*Native
	for i, s := range nativeSources {
		m := compiled(t, inline(fmt.Sprint("h", i), policy.PreToolExecution, "package p\n"+s))
		if n, _ := m.Native(); n != nil && n.Fusible() {
			members = append(members, n)
		}
	}
	require.Greater(t, len(members), 12)
	f := FuseNative(members)
	spoke, alone := 0, 0
	for k, in := range nativeEvents {
		var chosen []int
		for i := range members {
			if k%3 == 0 || (i+k)%3 > 0 {
				chosen = append(chosen, i)
			}
		}
		contribution := make([]dag.FusedAnswer, len(chosen))
		require.NoError(t, f.Run(t.Context(), in, dag.Choose(chosen), contribution))
		for i, c := range chosen {
			want, err := members[c].Run(t.Context(), in, 0)
			if contribution[i].Alone {
				alone++
				continue
			}
			require.NoError(t, err)
			got := policy.Result{}
			if contribution[i].Result != nil {
				got = *contribution[i].Result
				spoke++
			}
			require.Equal(t, want, got, "%s\n%v", members[c].name, in.Map())
		}
	}
	assert.Greater(t, spoke, 200)
	assert.Greater(t, alone, 10)
}

// Code that was written and read is the same code.
func TestStoredNative(t *testing.T) {
	c := new(Compiler)
	for i, s := range nativeSources {
		h := inline(fmt.Sprint("h", i), policy.PreToolExecution, "package p\n"+s)
		m := compiled(t, h)
		n, _ := m.Native()
		if n == nil {
			continue
		}
		assert.Nil(t, c.Load(h, n.Append(nil)), "nothing was compared")
		require.Empty(t, n.Verify(h))
		code := n.Append(nil)
		stored := c.Load(h, code)
		compared := n.evidence
		n.evidence.engines = "OPA 1.0.0, native 0"
		assert.Nil(t, c.Load(h, n.Append(nil)), "compared with another OPA")
		n.evidence = compared
		for _, in := range nativeEvents {
			got, gotErr := stored.Run(t.Context(), in, 0)
			want, wantErr := n.Run(t.Context(), in, 0)
			require.Equal(t, wantErr, gotErr)
			require.Equal(t, want, got, "%s\n%v", s, in.Map())
		}
		assert.Equal(t, n.engine, stored.Made().(*Native).engine)
		assert.Nil(t, c.Load(h, append([]byte{codeVersion + 1}, code[1:]...)), "another version")
		for cut := 1; cut < len(code); cut += 7 {
			if cutOff := c.Load(h, code[:cut]); cutOff != nil {
				_, err := cutOff.Run(t.Context(), nativeEvents[0], 0)
				require.Error(t, err, "cut at %d of %d", cut, len(code))
			}
		}
	}
}

// Nothing is allocated where nothing fires.
func TestNativeAllocatesNothing(t *testing.T) {
	_, n := nativelyOf(t, "h", `deny contains "no" if { input.tool_name in {"Bash", "Shell"}; contains(input.tool_input.command, "forbidden"); not input.cwd == "/x" }
ask contains "sure" if regex.match("^rm -rf", input.tool_input.command)`)
	in := bash("go test ./...")
	got := testing.AllocsPerRun(100, func() {
		if r, err := n.Tell(context.Background(), in, 0); r != nil || err != nil {
			panic(err)
		}
	})
	assert.LessOrEqual(t, got, float64(unpooled))
}

// A rule without end is stopped by the budget, once, and by its context.
func TestNativeBudget(t *testing.T) {
	h := inline("slow", policy.PreToolExecution, "package p\ndeny contains \"x\" if { some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); a + b == 1 }")
	h.Timeout = 20 * time.Millisecond
	n, engine := compiled(t, h).Native()
	require.NotNil(t, n, engine)
	n.module = func() (*Module, error) { return nil, errors.New("the time is up") }
	_, err := n.Run(t.Context(), bash("x"), 0)
	assert.Equal(t, policy.ErrBudget, policy.KindOf(err), "%v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = n.Run(ctx, bash("x"), 0)
	assert.Equal(t, policy.ErrDeadline, policy.KindOf(err), "%v", err)
}

func TestEngine(t *testing.T) {
	for source, want := range map[string]string{
		`deny contains "x" if contains(input.tool_input.command, "x")`:                                                    "rego(kernel)",
		`deny contains "x" if { some c in input.tool_input.list; c == "x" }`:                                              "rego(closures)",
		`deny contains "x" if rand.intn("a", 2) == 1`:                                                                     "rego(topdown: uses rand.intn)",
		"deny contains \"x\" if input.tool_name == \"x\"\nmessage contains \"r\" if rand.intn(\"a\", 2) == 1":             "rego(deny: kernel, message: topdown: uses rand.intn)",
		"deny contains \"x\" if input.tool_name == \"x\"\nask contains \"r\" if { some c in input.tool_input.l; c == 1 }": "rego(deny: kernel, ask: closures)",
	} {
		_, engine := compiled(t, guard(source)).Native()
		assert.Equal(t, want, engine, source)
	}
}

// Entry points of which some are topdown's say what they all say by topdown.
func TestMixed(t *testing.T) {
	m := compiled(t, guard(`deny contains "native" if input.tool_input.command == "x"
ask contains "topdown" if { rand.intn("a", 1) == 0; input.tool_input.force }
context contains msg if { rand.intn("b", 1) == 0; msg := input.tool_input.command }
message contains "m" if input.tool_input.command == "y"
feedback contains 1 if input.tool_input.command == "z"`))
	n, engine := m.Native()
	require.NotNil(t, n)
	assert.Equal(t, "rego(deny: kernel, ask: topdown: uses rand.intn, context: topdown: uses rand.intn, message: kernel, feedback: kernel)", engine)
	assert.False(t, n.Whole())
	for _, in := range nativeEvents {
		got, gotErr := n.Run(t.Context(), in, 0)
		want, wantErr := m.Run(t.Context(), in, 0)
		require.Equal(t, wantErr, gotErr)
		require.Equal(t, want, got)
	}
}

// Code that differs from its module is found out on made-up events.
func TestVerify(t *testing.T) {
	for i, s := range nativeSources {
		h := inline(fmt.Sprint("h", i), policy.PreToolExecution, "package p\n"+s)
		if n, _ := compiled(t, h).Native(); n != nil {
			assert.Empty(t, n.Verify(h).Render(), s)
		}
	}
	const source = `deny contains "no" if { input.tool_name in {"Bash", "Shell"}; startswith(input.tool_input.command, "rm") }`
	h := inline("h", policy.PreToolExecution, "package p\n"+source)
	for name, harm := range map[string]func(n, other *Native){
		"another slot": func(n, _ *Native) { n.slots[0], n.slots[1] = n.slots[1], n.slots[0] },
		"another line": func(n, _ *Native) { n.entries[0].at[1].Start++ },
		"another text": func(n, other *Native) { n.code = other.code },
		"silence":      func(n, _ *Native) { n.slots[1].kind = slotAbsent },
		"another part": func(n, _ *Native) { n.entries[0].part = partAsk },
	} {
		n, _ := compiled(t, h).Native()
		_, other := nativelyOf(t, "h", strings.ReplaceAll(source, `"rm"`, `"mv"`))
		require.Empty(t, n.Verify(h))
		harm(n, other)
		found := n.Verify(h)
		require.Len(t, found, 1, name)
		assert.Equal(t, "HK079", found[0].Code.ID, name)
	}
}

var fusedSources = []string{
	`deny contains "a" if input.tool_name == "Bash"
deny contains msg if { some w in ["x", "y"]; contains(input.tool_input.command, w); msg := sprintf("has %s", [w]) }`,
	`deny if input.tool_input.command == "x"
deny if input.tool_name == "Bash"`,
	`default allow := false
allow if { safe; not input.tool_input.force }
safe if startswith(input.tool_input.command, "x")
ask := "sure?" if input.tool_input.command == "y"
else := "really?" if input.tool_input.force`,
	`deny contains {"msg": m, "level": 3} if { m := object.get(input.tool_input, "command", "none"); m != "z" }
violation contains {"msg": "v"} if count(deny) > 0
warn contains "w" if every c in ["a", "b"] { c != input.tool_input.command }
deny_extra contains "e" if not input.tool_input.force`,
	`patch := {"tool_input": {"command": x, "n": 1.50}} if x := upper(input.tool_input.command)
context contains "c" if input.tool_name
message := "m" if true`,
	`result := {"decision": "ask", "reason": concat(" ", ["r", input.tool_input.command])} if input.tool_input.force`,
	`deny contains x if { some x in names with input as {"tool_input": {"command": "inner"}} }
names contains input.tool_input.command
stop contains "s" if { names["x"]; [1 | input.tool_input.force] != [] }`,
	`deny contains "text" if object.get(input, ["tool_input", "command"], "") == "x"`,
	`f(x) := 1 if x == "x"
f(x) := 2 if x == "y"
skip contains sprintf("%d", [n]) if n := f(input.tool_input.command)`,
	`deny := x if { x := input.tool_input.command }`,
}

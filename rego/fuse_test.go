package rego

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// tools is the filter of hooks about some tools.
func tools(names ...string) *policy.Matcher {
	return &policy.Matcher{Atoms: []policy.Atom{{Op: policy.AtomIn, Field: policy.FieldToolName, Values: names, Reads: []policy.Field{policy.FieldToolName}}}}
}

// matching is a filter that only its Go code can test.
func matching() *policy.Matcher {
	return &policy.Matcher{Atoms: []policy.Atom{{Op: policy.AtomMatch, Field: policy.FieldCommand, Values: []string{"x"}}}}
}

// offered is a hook whose package holds the given rules.
func offered(t testing.TB, name string, filter *policy.Matcher, source string) Part {
	return Part{Module: compiled(t, inline(name, policy.PreToolExecution, "package p\n"+source)), Filter: filter}
}

// fused is the one fusion that all parts make.
func fused(t testing.TB, parts ...Part) *Fused {
	t.Helper()
	list := Fuse(parts)
	require.Len(t, list, 1)
	require.Empty(t, list[0].Fault)
	require.Len(t, list[0].Members, len(parts))
	return list[0]
}

// all are the places of n members.
func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// sameAsAlone demands of each member what its module says by itself. An error
// of the whole is fine when a member fails.
func sameAsAlone(t *testing.T, f *Fused, parts []Part, in *policy.Context) (spoke int) {
	t.Helper()
	said := make([]dag.FusedSaid, len(parts))
	fails := false
	err := f.Run(context.Background(), in, all(len(parts)), said)
	for i, p := range parts {
		want, alone := p.Module.Run(context.Background(), in, 0)
		fails = fails || alone != nil && policy.KindOf(alone) == policy.ErrEval
		if err != nil {
			continue
		}
		assert.Equal(t, alone != nil, said[i].Alone, p.Module.name)
		if alone == nil {
			got := policy.Result{}
			if said[i].Result != nil {
				got = *said[i].Result
			}
			assert.Equal(t, want, got, p.Module.name)
			if !want.Quiet() {
				spoke++
			}
		}
	}
	assert.Equal(t, fails, err != nil, "%v", err)
	return spoke
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

func TestFusedSaysWhatEachSays(t *testing.T) {
	var parts []Part
	for i, s := range fusedSources {
		filter := tools("Bash", "Edit")
		if i%3 == 0 {
			filter = nil
		}
		parts = append(parts, offered(t, fmt.Sprint("h", i), filter, s))
	}
	f := fused(t, parts...)
	spoke := 0
	for _, command := range []any{"x", "y", "z", "x y", nil} {
		for _, force := range []any{nil, true, false} {
			input := map[string]any{}
			if command != nil {
				input["command"] = command
			}
			if force != nil {
				input["force"] = force
			}
			spoke += sameAsAlone(t, f, parts, call("Bash", input))
		}
	}
	assert.Greater(t, spoke, 60)
}

func BenchmarkFused(b *testing.B) {
	for _, n := range []int{1, 2, 3, 10, 30, 100} {
		var parts []Part
		for i := range n {
			parts = append(parts, offered(b, fmt.Sprint("h", i), tools("Bash"), fmt.Sprintf("deny contains \"no\" if contains(input.tool_input.command, \"forbidden-%d\")", i)))
		}
		in := bash("go test ./... && git status --short")
		if n > 1 {
			b.Run(fmt.Sprintf("fused/%d", n), func(b *testing.B) {
				f := fused(b, parts...)
				said, chosen := make([]dag.FusedSaid, n), all(n)
				b.ReportAllocs()
				for b.Loop() {
					if err := f.Run(context.Background(), in, chosen, said); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("alone/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range parts {
					if _, err := p.Module.Run(context.Background(), in, 0); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// A filter that the rules do not express: only those that were chosen speak.
func TestFusedAsksTheChosen(t *testing.T) {
	parts := []Part{
		offered(t, "a", matching(), `deny contains "a" if true`),
		offered(t, "b", nil, `deny contains "b" if true`),
		offered(t, "c", matching(), "default ask := false\nask := \"c\" if { input.tool_input.command == \"x\"; 1 / to_number(input.tool_input.n) > 0 }"),
		offered(t, "d", tools("Edit"), `deny contains "d" if true`),
	}
	f := fused(t, parts...)
	said := make([]dag.FusedSaid, 2)
	// c is not chosen and would fail.
	require.NoError(t, f.Run(context.Background(), call("Bash", map[string]any{"command": "x", "n": "0"}), []int{0, 3}, said))
	require.NotNil(t, said[0].Result)
	assert.Equal(t, []string{"5:7 a"}, short(*said[0].Result).Reasons)
	assert.Equal(t, dag.FusedSaid{}, said[1])
	said = make([]dag.FusedSaid, 1)
	assert.Error(t, f.Run(context.Background(), call("Bash", map[string]any{"command": "x", "n": "0"}), []int{2}, said))
	assert.Equal(t, []dag.FusedSaid{{}}, said)
}

// What modules would share with others, or see more of, keeps them apart.
func TestFuseSortsParts(t *testing.T) {
	dir := shared(t, map[string]string{
		"lib/names.rego": "package lib\nnames := {\"x\"}\n", "lib/d.json": `{"limit": "x"}`,
		"lib/own.rego": "package hooks.own\ndeny contains data.limit if input.tool_input.command in data.lib.names\n",
	})
	file := withFiles(guard("x"), dir, []string{"lib"}, []string{"lib/d.json"}).File
	module := func(name, source string, file *policy.FileConfig) Part {
		h := inline(name, policy.PreToolExecution, source)
		h.File = file
		m, found := new(Compiler).Compile(h)
		require.NotNil(t, m, found.Render())
		return Part{Module: m}
	}
	var c Compiler
	withLibrary := func(name, source, own string) Part {
		h := inline(name, policy.PreToolExecution, source)
		h.File, h.Body.File = file, own
		m, found := c.Compile(h)
		require.NotNil(t, m, found.Render())
		return Part{Module: m}
	}
	own := "package hooks.own\ndeny contains data.limit if input.tool_input.command in data.lib.names\n"
	parts := []Part{
		module("plain", "package p\ndeny contains \"1\" if true", nil),
		withLibrary("own", own, dir+"/lib/own.rego"),
		module("other file", "package p\ndeny contains \"2\" if true", &policy.FileConfig{}),
		withLibrary("uses", "package q\ndeny contains x if some x in data.hooks.own.deny", ""),
		module("old", "package p\ndeny[\"3\"] { true }", &policy.FileConfig{Rego: policy.RegoConfig{Version: "v0"}}),
		module("older", "package p\ndeny[\"4\"] { input.tool_name }", &policy.FileConfig{Rego: policy.RegoConfig{Version: "v0"}}),
		withLibrary("looks at itself", "package hooks.own\ndeny contains \"6\" if data.hooks[_].deny", dir+"/lib/own.rego"),
		module("forbids", "package p\ndeny contains \"7\" if true", &policy.FileConfig{Rego: policy.RegoConfig{Forbid: []string{"sprintf"}}}),
		{Module: module("whole", "package p\ndeny contains \"8\" if count(input) > 0", nil).Module, Filter: matching()},
		module("whole too", "package p\ndeny contains \"9\" if count(input) > 0", nil),
	}
	var got [][]int
	for _, f := range Fuse(parts) {
		require.Empty(t, f.Fault)
		got = append(got, f.Members)
		members := make([]Part, len(f.Members))
		for i, place := range f.Members {
			members[i] = parts[place]
		}
		assert.Equal(t, len(members), sameAsAlone(t, f, members, call("Bash", map[string]any{"command": "x"})))
	}
	assert.Equal(t, [][]int{{0, 2, 9}, {1, 3}, {4, 5}}, got)
}

// All members together have the budget of the most patient one.
func TestFusedBudget(t *testing.T) {
	slow := inline("slow", policy.PreToolExecution, "package p\ndeny contains \"x\" if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i + j == 0 }")
	slow.Timeout = 30 * time.Millisecond
	quick := inline("quick", policy.PreToolExecution, "package p\ndeny contains \"y\" if true")
	quick.Timeout = 10 * time.Millisecond
	f := fused(t, Part{Module: compiled(t, slow)}, Part{Module: compiled(t, quick)})
	assert.Equal(t, slow.Timeout, f.budget)
	start := time.Now()
	assert.Error(t, f.Run(context.Background(), bash("ls"), all(2), make([]dag.FusedSaid, 2)))
	assert.Less(t, time.Since(start), time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.Error(t, f.Run(ctx, bash("ls"), all(2), make([]dag.FusedSaid, 2)))
}

package rego

import (
	"context"
	"fmt"
	"testing"

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

package rego

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/directed"
	"github.com/hookc/hookc/rego/native"
)

// tableSources read constant tables by what they compute of an event.
var tableSources = []string{
	`limits := {"Bash": 5, "Read": 10, "Write": 20}
deny contains "over" if count(input.tool_input.command) > limits[input.tool_name]`,
	`limits := {"bash": 5, "read": 10}
deny contains "over" if input.tool_input.n > limits[lower(input.tool_name)]`,
	`kinds := {"rm": "bad", "curl": "net", "ls": "fine"}
deny contains kinds[split(input.tool_input.command, " ")[0]]`,
	`kinds := {"rm": "bad", "curl": "net", "ls": "fine"}
deny contains k if { some w in split(input.tool_input.command, " "); k := kinds[w]; k != "good" }`,
	`kinds := {"rm": "bad", "curl": "net"}
name := trim_space(lower(input.tool_input.command))
deny contains kinds[name]`,
	`kinds := {"rm": "bad", "curl": "net"}
of(x) := kinds[lower(x)]
deny contains of(input.tool_input.command)`,
	`levels := {"Bash": {"rm": 3, "ls": 1}, "Read": {"x": 2}}
deny contains sprintf("%d", [levels[input.tool_name][input.tool_input.command]])`,
	`levels := {"Bash": {"rm": 3, "ls": 1}, "Read": {"x": 2}}
deny contains "high" if input.tool_input.n > levels[input.tool_name][lower(input.tool_input.command)]`,
	`levels := {"Bash": {"level": "open"}, "Read": {"level": "open"}}
deny contains "shut" if not levels[input.tool_name].level == "open"`,
	`steps := ["a", "b", "c"]
deny contains steps[input.tool_input.n]`,
	`steps := [{"is": "a"}, {"is": "b"}]
deny contains steps[count(input.tool_input.command)].is`,
	`words := {"rm", "curl"}
deny contains "word" if words[lower(input.tool_input.command)]`,
	`names := {"a/b": 1, "c/d": 2}
deny contains sprintf("%d", [names[concat("/", [input.tool_input.x, input.tool_input.y])]])`,
	`names := {"a/b": true, "c/d": true}
deny contains "no" if not names[sprintf("%s/%s", [input.tool_input.x, input.tool_input.y])]`,
	`names := {"Bash:rm": "x", "Read:ls": "y"}
deny contains names[sprintf("%s:%s", [input.tool_name, input.tool_input.command])]`,
	`deny contains object.get({"rm": "bad", "curl": "net"}, lower(input.tool_input.command), "none")`,
	`ends := {"rm": "bad", "curl": "net"}
deny contains ends[substring(input.tool_input.command, 2, -1)]`,
	`ends := {"go": "code", "md": "text"}
deny contains e if { parts := split(input.tool_input.path, "."); e := ends[parts[count(parts) - 1]] }`,
	`kinds := {"rm": "bad", "curl": "bad"}
deny contains "all" if every w in input.tool_input.list { kinds[w] == "bad" }`,
	`deny contains "no" if { x := {"rm": true, "ls": true}[trim_prefix(input.tool_input.command, "sudo ")]; x }`,
	`kinds := {"1": "one", "2": "two"}
deny contains kinds[format_int(input.tool_input.n, 10)]`,
}

// changes are a value with one key or element of it changed, at any depth.
func changes(v native.Value) []native.Value {
	var out []native.Value
	switch x := v.(type) {
	case string:
		return []native.Value{x + "x", "x" + x}
	case int:
		return []native.Value{x + 1}
	case bool:
		return []native.Value{!x}
	case []native.Value:
		for i := range x {
			for _, c := range changes(x[i]) {
				next := slices.Clone(x)
				next[i] = c
				out = append(out, next)
			}
		}
		out = append(out, slices.Clone(x[:len(x)-1]))
	case map[string]native.Value:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			without := maps.Clone(x)
			delete(without, k)
			out = append(out, without)
			for _, name := range []string{k + "x", "x" + k} {
				renamed := maps.Clone(without)
				renamed[name] = x[k]
				out = append(out, renamed)
			}
			for _, c := range changes(x[k]) {
				next := maps.Clone(x)
				next[k] = c
				out = append(out, next)
			}
		}
	case *native.Set:
		for i, e := range x.Elems() {
			rest := slices.Delete(slices.Clone(x.Elems()), i, i+1)
			out = append(out, native.NewSet(rest...))
			for _, c := range changes(e) {
				out = append(out, native.NewSet(append(slices.Clone(rest), c)...))
			}
		}
	}
	return out
}

// A constant table of which one key or value is another is found out, however the
// key is computed that it is read by.
func TestTableMutants(t *testing.T) {
	for i, source := range tableSources {
		h := inline(fmt.Sprint("h", i), policy.PreToolExecution, "package p\n"+source)
		n, engine := compiled(t, h).Native()
		require.NotNil(t, n, "%s\n%s", source, engine)
		require.Empty(t, n.Verify(h).Render(), source)
		stored, killed, all := n.code.Program().Append(nil), 0, 0
		original, err := native.Decode(stored)
		require.NoError(t, err)
		for c, v := range original.Consts {
			if !directed.Collection(v) {
				continue
			}
			for _, change := range changes(v) {
				p, err := native.Decode(stored)
				require.NoError(t, err)
				p.Consts[c] = change
				n, _ := compiled(t, h).Native()
				n.code, err = native.Link(p, bridge)
				require.NoError(t, err)
				all++
				if assert.NotEmpty(t, n.Verify(h), "%s\n%v is %v", source, v, change) {
					killed++
				}
			}
		}
		assert.Positive(t, all, source)
		t.Logf("%d of %d: %s", killed, all, engine)
	}
}

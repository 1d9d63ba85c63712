package rego

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/native"
)

// mutantSource is a policy in which each mutant below is a bug that matters.
const mutantSource = `package p
level.Bash := "restricted"
level.Read := "open"
limits := {"Bash": 5, "Read": 10}
words := {"rm", "curl"}
f(x) := "big" if x > 10
else := "small" if x > 2
default g(_) := 0
g(x) := 1 if x == "a"
default mode := "none"
mode := "plan" if input.permission_mode == "plan"
names contains n if some n, _ in input.tool_input
free if { input.cwd == "/tmp"; not input.tool_input.force }
deny contains "lookup" if level[input.tool_name] == "restricted"
deny contains "over" if count(input.tool_input.command) > limits[input.tool_name]
deny contains "word" if { some w in split(input.tool_input.command, " "); w in words }
deny contains "size" if f(input.tool_input.n) == "small"
deny contains "arg" if g(input.tool_input.path) == 0
deny contains sprintf("%s of %s", [mode, input.tool_name]) if input.tool_name
deny contains "every" if every a in input.tool_input.args { a != "ok" }
deny contains "free" if not free
deny contains "pair" if input.tool_input.a == input.tool_input.b
deny contains "with" if free with input.cwd as "/tmp"
ask contains x if x := {k | some k, v in input.tool_input; v == "x"}[_]
ask contains "has" if names["force"]
ask contains "regex" if regex.match("^git\\s+push", input.tool_input.command)
context contains concat("", [w | some w in input.tool_input.args])
allow if { input.tool_name == "Read"; input.tool_input.n != 7 }
`

// changeFirst changes the first statement of an operation that it can.
func changeFirst(op native.Op, to func(s *native.Stmt) bool) func(*native.Program) bool {
	return func(p *native.Program) bool {
		done := false
		for i := range p.Funcs {
			native.Walk(p.Funcs[i].Blocks, func(s *native.Stmt) {
				if !done && s.Op == op {
					done = to(s)
				}
			})
		}
		return done
	}
}

// changeEach changes every statement of an operation.
func changeEach(op native.Op, to func(s *native.Stmt) bool) func(*native.Program) bool {
	return func(p *native.Program) bool {
		done := false
		for i := range p.Funcs {
			native.Walk(p.Funcs[i].Blocks, func(s *native.Stmt) {
				if s.Op == op && to(s) {
					done = true
				}
			})
		}
		return done
	}
}

func turnsInto(op native.Op) func(*native.Stmt) bool {
	return func(s *native.Stmt) bool { s.Op = op; return true }
}

func vanishes(s *native.Stmt) bool {
	*s = native.Stmt{Op: native.OpNop, Target: native.None}
	return true
}

// otherCall is a change of the calls of a function.
func otherCall(p *native.Program, name string, to string) bool {
	from, other := slices.Index(p.Builtins, name), slices.Index(p.Builtins, to)
	if from < 0 {
		return false
	}
	if other < 0 {
		p.Builtins = append(p.Builtins, to)
		other = len(p.Builtins) - 1
	}
	return changeEach(native.OpCallBuiltin, func(s *native.Stmt) bool {
		if s.Index != int32(from) {
			return false
		}
		s.Index = int32(other)
		return true
	})(p)
}

func otherConstants(p *native.Program, to func(v native.Value) (native.Value, bool)) bool {
	done := false
	for i, v := range p.Consts {
		if next, ok := to(v); ok {
			p.Consts[i], done = next, true
		}
	}
	return done
}

func otherText(from, to string) func(*native.Program) bool {
	return func(p *native.Program) bool {
		return otherConstants(p, func(v native.Value) (native.Value, bool) { return to, v == from })
	}
}

func otherNumber(from, to int) func(*native.Program) bool {
	return func(p *native.Program) bool {
		return otherConstants(p, func(v native.Value) (native.Value, bool) { return to, v == from })
	}
}

// nativeMutants are hand-made bugs: of the evaluator, as what a statement would
// do with the bug, and of the translation.
var nativeMutants = []struct {
	name   string
	mutate func(*native.Program) bool
}{
	{"an equation is its opposite", changeFirst(native.OpEqual, turnsInto(native.OpNotEqual))},
	{"an equation always holds", changeEach(native.OpEqual, vanishes)},
	{"a comparison with false always holds", changeEach(native.OpNotEqual, vanishes)},
	{"a negation always holds", changeEach(native.OpNot, vanishes)},
	{"a negation is its block", changeEach(native.OpNot, turnsInto(native.OpBlock))},
	{"a scan sees nothing", changeEach(native.OpScan, func(s *native.Stmt) bool { s.Blocks = []native.Block{{Place: -1}}; return true })},
	{"an else does not look whether it is its turn", changeEach(native.OpIsUndefined, vanishes)},
	{"every does not look", changeEach(native.OpIsUndefined, turnsInto(native.OpIsDefined))},
	{"a lookup finds all there is", changeEach(native.OpDot, func(s *native.Stmt) bool { s.Op, s.B = native.OpAssign, native.Operand{}; return true })},
	{"a set is not added to", changeEach(native.OpSetAdd, vanishes)},
	{"an array is not added to", changeEach(native.OpArrayAppend, vanishes)},
	{"the first rule says nothing", changeFirst(native.OpSetAdd, vanishes)},
	{"a slot is another", changeFirst(native.OpInput, func(s *native.Stmt) bool { s.Index++; return true })},
	{"slots are one", changeEach(native.OpInput, func(s *native.Stmt) bool { s.Index = 0; return true })},
	{"with replaces nothing", changeEach(native.OpWith, turnsInto(native.OpBlock))},
	{"a call gives nothing", changeEach(native.OpCall, vanishes)},
	{"in is its opposite", func(p *native.Program) bool { return otherCall(p, "internal.member_2", "neq") }},
	{"greater is not less", func(p *native.Program) bool { return otherCall(p, "gt", "gte") }},
	{"greater is less", func(p *native.Program) bool { return otherCall(p, "gt", "lt") }},
	{"another function of one text", func(p *native.Program) bool { return otherCall(p, "count", "type_name") }},
	{"a pattern is a text", func(p *native.Program) bool { return otherCall(p, "regex.match", "startswith") }},
	{"a table has another value", otherText("open", "restricted")},
	{"a literal has one letter more", otherText("plan", "plans")},
	{"a default is another", otherText("none", "")},
	{"a boundary is one more", otherNumber(10, 11)},
	{"a boundary is one less", otherNumber(2, 1)},
	{"the default of a function is another", otherNumber(0, 1)},
	{"a number is another", otherNumber(7, 8)},
	{"a block of a rule is left out", func(p *native.Program) bool {
		f := &p.Funcs[0]
		f.Blocks = slices.Delete(f.Blocks, 2, 3)
		return true
	}},
	{"the last rule is left out", func(p *native.Program) bool {
		f := &p.Funcs[0]
		f.Blocks = slices.Delete(f.Blocks, len(f.Blocks)-2, len(f.Blocks)-1)
		return true
	}},
	{"a table has another key", func(p *native.Program) bool {
		return otherConstants(p, func(v native.Value) (native.Value, bool) {
			table, ok := v.(map[string]native.Value)
			if !ok || table["Read"] == nil {
				return nil, false
			}
			return map[string]native.Value{"Bash": table["Bash"], "Rood": table["Read"]}, true
		})
	}},
	{"a set of constants lacks one", func(p *native.Program) bool {
		return otherConstants(p, func(v native.Value) (native.Value, bool) {
			s, ok := v.(*native.Set)
			if !ok || !s.Has("curl") {
				return nil, false
			}
			return native.NewSet("rm"), true
		})
	}},
}

// Directed comparison finds every one of them.
func TestNativeMutants(t *testing.T) {
	require.GreaterOrEqual(t, len(nativeMutants), 30)
	h := inline("h", policy.PreToolExecution, mutantSource)
	n, engine := compiled(t, h).Native()
	require.NotNil(t, n, engine)
	require.True(t, n.Whole(), engine)
	require.Empty(t, n.Verify(h).Render())
	for _, mutant := range nativeMutants {
		t.Run(mutant.name, func(t *testing.T) {
			n, _ := compiled(t, h).Native()
			p, err := native.Decode(n.code.Program().Append(nil))
			require.NoError(t, err)
			require.True(t, mutant.mutate(p), "it changes nothing")
			if n.code, err = native.Link(p, bridge); err != nil {
				return // Linking refuses it.
			}
			assert.NotEmpty(t, n.Verify(h), "nothing was found")
			assert.False(t, n.Compared())
		})
	}
}

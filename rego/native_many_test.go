package rego

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego/directed"
	"github.com/hookc/hookc/rego/native"
)

// manyRules are rules of four shapes by turns, of which one calls a helper of its own.
func manyRules(n int) string {
	b := strings.Builder{}
	b.WriteString("package p\nbad(c, name) if startswith(trim_space(c), name)\nbad(c, name) if endswith(c, name)\n")
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "deny contains \"rule %d\" if regex.match(\"rm .*dir%d\\\\b\", input.tool_input.command)\n", i, i)
		case 1:
			fmt.Fprintf(&b, "free%d if input.cwd == \"/area%d\"\ndeny contains \"rule %d\" if { startswith(input.tool_input.path, \"/srv/%d/\"); not free%d }\n", i, i, i, i, i)
		case 2:
			fmt.Fprintf(&b, "deny contains \"rule %d\" if { input.tool_input.n > %d; input.tool_input.n < %d; input.tool_name in {\"Bash\", \"T%d\"} }\n", i, 10*i, 10*i+5, i)
		default:
			fmt.Fprintf(&b, "deny contains \"rule %d\" if { bad(input.tool_input.command, \"cmd%d\"); input.permission_mode != \"plan\" }\n", i, i)
		}
	}
	return b.String()
}

func manyNative(t *testing.T, h *policy.Hook) *Native {
	t.Helper()
	n, engine := compiled(t, h).Native()
	require.NotNil(t, n, engine)
	return n
}

// Of many rules a mistake in the code of one is found out, wherever it is.
func TestMutantAmongMany(t *testing.T) {
	h := inline("h", policy.PreToolExecution, manyRules(132))
	require.Empty(t, manyNative(t, h).Verify(h).Render())
	for _, change := range [][2]string{{"rm .*dir128\\b", "rm .*dir127\\b"}, {"/area129", "/area1290"}, {"/srv/129/", "/srv/129"}, {"T130", "T13"}, {"cmd131", "cmd13"}, {"rule 131", "rule 13"}} {
		n := manyNative(t, h)
		p, err := native.Decode(n.code.Program().Append(nil))
		require.NoError(t, err)
		require.True(t, otherText(change[0], change[1])(p) || otherElement(p, change[0], change[1]), "%s: it changes nothing", change[0])
		n.code, err = native.Link(p, bridge)
		require.NoError(t, err)
		assert.NotEmpty(t, n.Verify(h), "%s is %s", change[0], change[1])
	}
}

// otherElement is a change of a text in the constant sets of a program.
func otherElement(p *native.Program, from, to string) bool {
	return otherConstants(p, func(v native.Value) (native.Value, bool) {
		s, ok := v.(*native.Set)
		if !ok || !s.Has(from) {
			return nil, false
		}
		out := []native.Value{to}
		for _, e := range s.Elems() {
			if e != from {
				out = append(out, e)
			}
		}
		return native.NewSet(out...), true
	})
}

// How much code of many rules is evaluated to compare it grows with the rules, and not
// with their square: each event is evaluated by all of them.
func TestManyRulesAreComparedInBounds(t *testing.T) {
	work := func(rules int) (events, evaluations int) {
		n := manyNative(t, inline("h", policy.PreToolExecution, manyRules(rules)))
		p := n.code.Program()
		blocks := 0
		for i := range p.Funcs {
			blocks += len(p.Funcs[i].Blocks)
		}
		events = len(directed.Events(p, policy.PreToolExecution, nil, nil, func(v native.Value) any { return toJSON(fromNative(v)) }).Events)
		return events, events * blocks
	}
	few, small := work(40)
	events, large := work(600)
	t.Logf("40 rules: %d events, 600 rules: %d", few, events)
	assert.GreaterOrEqual(t, events, 600, "each rule has an event of its own")
	assert.Less(t, large, 15*15*small/2, "evaluations of a block")
}

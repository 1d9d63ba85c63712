package sites

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/policy"
)

// Only what a filter proves narrows a matcher.
func TestToolsOfAFilter(t *testing.T) {
	in := func(f policy.Field, values ...string) policy.Atom {
		return policy.Atom{Op: policy.AtomIn, Field: f, Values: values}
	}
	for name, c := range map[string]struct {
		atoms []policy.Atom
		tools []string
		known bool
	}{
		"no filter":        {nil, nil, false},
		"names":            {[]policy.Atom{in(policy.FieldToolName, "A", "B")}, []string{"A", "B"}, true},
		"a kind":           {[]policy.Atom{in(policy.FieldToolKind, "shell")}, toolcall.OfKind("shell"), true},
		"a name of a kind": {[]policy.Atom{in(policy.FieldToolKind, "shell"), in(policy.FieldToolName, "Bash", "Read")}, []string{"Bash"}, true},
		"an open kind":     {[]policy.Atom{in(policy.FieldToolKind, "shell", "mcp")}, nil, false},
		"both":             {[]policy.Atom{in(policy.FieldToolKind, "other"), in(policy.FieldToolName, "X")}, []string{"X"}, true},
		"another field":    {[]policy.Atom{in(policy.FieldAgentType, "A")}, nil, false},
		"a pattern":        {[]policy.Atom{{Op: policy.AtomMatch, Field: policy.FieldToolName, Values: []string{"A"}}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			tools, known := toolsOf(&policy.Matcher{Atoms: c.atoms})
			assert.Equal(t, c.tools, tools)
			assert.Equal(t, c.known, known)
		})
	}
}

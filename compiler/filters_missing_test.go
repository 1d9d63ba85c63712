package compiler

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// TestMissing: what a condition makes of a field that is absent, or empty.
func TestMissing(t *testing.T) {
	absent := policy.NewContext(policy.SessionStart)
	with := func(source string) *policy.Context {
		return policy.NewContext(policy.SessionStart).Set(policy.FieldSource, source)
	}
	for how, want := range map[string][]bool{
		"":            {true, false, false, false},
		"fail":        {true, false, false, false},
		"match":       {true, false, true, false},
		"match-empty": {true, false, true, true},
	} {
		filter := policy.Filter{Conditions: []policy.Condition{{Key: policy.FilterSource, Value: diag.Literal("startup|resume")}}}
		if how != "" {
			filter.Conditions = append(filter.Conditions, policy.Condition{Key: policy.FilterMissing, Value: diag.Literal(how)})
		}
		m, wrong := matcher(policy.SessionStart.Spec(), &policy.Hook{Filter: filter})
		require.Empty(t, wrong)
		require.Len(t, m.Atoms, 1)
		var got []bool
		for _, c := range []*policy.Context{with("resume"), with("clear"), absent, with("")} {
			got = append(got, m.Match(c))
		}
		assert.Equal(t, want, got, "missing: %s", how)
	}
}

// TestMissingIsOpaque: the analyses must not take a condition that also holds
// without its field for the exact one.
func TestMissingIsOpaque(t *testing.T) {
	compiled := func(conditions ...policy.Condition) *policy.Matcher {
		m, _ := matcher(policy.SessionStart.Spec(), &policy.Hook{Filter: policy.Filter{Conditions: conditions}})
		return m
	}
	source := policy.Condition{Key: policy.FilterSource, Value: diag.Literal("startup")}
	lenient := policy.Condition{Key: policy.FilterMissing, Value: diag.Literal("match")}
	exact, loose := compiled(source), compiled(source, lenient)
	assert.False(t, loose.Implies(exact))
	assert.True(t, loose.Implies(loose))
	assert.False(t, compiled(source, policy.Condition{Key: policy.FilterMissing, Value: diag.Literal("match-empty")}).Implies(loose))
}

// TestNotMode: listed modes do not match; every other does, and none at all.
func TestNotMode(t *testing.T) {
	atom, problem := conditions[policy.FilterNotMode](diag.Literal("plan|yolo"))
	require.Nil(t, problem)
	c := func(mode string) *policy.Context {
		return policy.NewContext(policy.PreToolExecution).Set(policy.FieldPermissionMode, mode)
	}
	assert.Equal(t, []bool{false, false, true, true, true},
		[]bool{atom.Test(c("plan")), atom.Test(c("yolo")), atom.Test(c("default")), atom.Test(c("")), atom.Test(policy.NewContext(policy.PreToolExecution))})
}

package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func in(f Field, values ...string) Atom {
	return Atom{Op: AtomIn, Field: f, Values: values, Reads: []Field{f}}
}

func prefix(f Field, value string) Atom {
	return Atom{Op: AtomPrefix, Field: f, Values: []string{value}, Reads: []Field{f}}
}

func opaque(f Field, text string) Atom {
	return Atom{Key: FilterCommand, Op: AtomMatch, Field: f, Values: []string{text}, Reads: []Field{f}}
}

func all(atoms ...Atom) *Matcher { return &Matcher{Atoms: atoms} }

func TestContradiction(t *testing.T) {
	for name, c := range map[string]struct {
		m    *Matcher
		want bool
	}{
		"nothing":          {all(), false},
		"no value":         {all(in(FieldToolName)), true},
		"disjoint sets":    {all(in(FieldToolName, "A"), in(FieldToolName, "B", "C")), true},
		"meeting sets":     {all(in(FieldToolName, "A", "B"), in(FieldToolName, "B")), false},
		"other field":      {all(in(FieldToolName, "A"), in(FieldToolKind, "B")), false},
		"set and prefix":   {all(in(FieldModel, "gpt-4"), prefix(FieldModel, "claude")), true},
		"prefix and set":   {all(prefix(FieldModel, "gpt"), in(FieldModel, "gpt-4")), false},
		"disjoint prefix":  {all(prefix(FieldModel, "gpt"), prefix(FieldModel, "claude")), true},
		"nested prefix":    {all(prefix(FieldModel, "gpt"), prefix(FieldModel, "gpt-4")), false},
		"opaque and a set": {all(opaque(FieldToolName, "^A$"), in(FieldToolName, "B")), false},
	} {
		a, _ := c.m.Contradiction()
		assert.Equal(t, c.want, a != nil, name)
	}
}

func TestImplies(t *testing.T) {
	assert.True(t, all(in(FieldToolName, "A")).Implies(all()), "everything implies no filter")
	assert.False(t, all().Implies(all(in(FieldToolName, "A"))))
	assert.True(t, all(in(FieldToolName, "A")).Implies(all(in(FieldToolName, "A", "B"))))
	assert.False(t, all(in(FieldToolName, "A", "B")).Implies(all(in(FieldToolName, "A"))))
	assert.True(t, all(in(FieldModel, "gpt-4")).Implies(all(prefix(FieldModel, "gpt"))))
	assert.False(t, all(prefix(FieldModel, "gpt")).Implies(all(in(FieldModel, "gpt-4"))))
	assert.True(t, all(prefix(FieldModel, "gpt-4")).Implies(all(prefix(FieldModel, "gpt"))))
	assert.True(t, all(opaque(FieldCommand, "rm")).Implies(all(opaque(FieldCommand, "rm"))))
	assert.False(t, all(opaque(FieldCommand, "rm")).Implies(all(opaque(FieldCommand, "mv"))))
	assert.True(t, all(in(FieldToolName, "A"), opaque(FieldCommand, "rm")).Implies(all(in(FieldToolName, "A"))))
}

func TestExcludes(t *testing.T) {
	bash, write := all(in(FieldToolName, "Bash")), all(in(FieldToolName, "Write"))
	changed := FieldPaths(FieldToolInput)
	assert.True(t, bash.Excludes(write, changed))
	assert.False(t, bash.Excludes(bash, changed))
	assert.False(t, bash.Excludes(all(), changed))
	one, two := all(in(FieldModel, "a")), all(in(FieldModel, "b"))
	assert.False(t, one.Excludes(two, FieldPaths(FieldModel)), "a hook between them may change the model")
	assert.True(t, one.Excludes(two, Paths{}))
}

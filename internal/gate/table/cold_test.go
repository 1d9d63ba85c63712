package table

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// TestFields: the numbers of fields and types are those of package policy.
func TestFields(t *testing.T) {
	assert.Equal(t, []int{FieldCwd, FieldProjectRoot, FieldPermissionMode, FieldUserInput, FieldToolName, FieldToolInput},
		[]int{int(policy.FieldCwd), int(policy.FieldProjectRoot), int(policy.FieldPermissionMode), int(policy.FieldUserInput), int(policy.FieldToolName), int(policy.FieldToolInput)})
	assert.Equal(t, []int{TypeAny, TypeString, TypeNumber, TypeBool, TypeObject, TypeList}, []int{int(policy.AnyType), int(policy.StringType), int(policy.NumberType),
		int(policy.BoolType), int(policy.ObjectType), int(policy.ListType)})
	assert.Less(t, len(policy.Fields()), Fields)
}

// TestScanTakesLess: what the scanner takes for an object, policy.DecodeJSON
// does, and the plain cases are taken.
func TestScanTakesLess(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, ` {"a" : [1, -0.5e+3, "x\n\u00e9", {"b":null}], "c":true } `: true, `{"a":{"b":1},"c":{"b":2}}`: true,
		`{"a":1,"a":2}`: false, `{"a":{"b":1,"b":2}}`: false, `{"a":1}x`: false, `{"a":01}`: false, `{"a":1.}`: false, `{"a":.5}`: false, `{"a":1e}`: false,
		`{"a":"` + "\x01" + `"}`: false, `{"a":"\x"}`: false, `{"a":"\u12g4"}`: false, `{"a":"x}`: false, `{"a"}`: false, `{"a":}`: false, `{,}`: false, `{"a":1,}`: false,
		`[{}]`: false, `{"a":[1,]}`: false, `{"a":tru}`: false, `{"\u0061":1}`: false, `{"é":1}`: false, `{`: false, ``: false, `{"a":[[[]]}`: false,
	} {
		_, ok := object([]byte(text), nil)
		require.Equal(t, want, ok, text)
		if _, err := policy.DecodeJSON([]byte(text)); ok {
			require.NoError(t, err, text)
		}
	}
}

// TestLeaf: the state folder is that of package policy/state.
func TestLeaf(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/nowhere")
	for _, root := range []string{"/", "/nowhere/project", "/nowhere/my project", "/nowhere/_x_", "/nowhere/...", "/nowhere/a#_#b", "/nowhere/é",
		"/nowhere/a-name-that-is-longer-than-the-forty-bytes-that-are-kept"} {
		d, err := state.Open(root)
		require.NoError(t, err)
		assert.Equal(t, d.Path(), "/nowhere/hookc/"+Leaf(root), root)
	}
}

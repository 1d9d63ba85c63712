package form

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

func TestIs(t *testing.T) {
	one := OneOf{
		Keyed{"type": "text", "lines": List{policy.StringType}, "note?": policy.StringType},
		Keyed{"type": "none", "why": OneOf{policy.StringType, nil}},
	}
	for text, want := range map[string]bool{
		`{"type":"text","lines":["a"]}`:         true,
		`{"type":"text","lines":[]}`:            true,
		`{"type":"text","lines":[],"note":"n"}`: true,
		`{"type":"text","lines":[],"other":1}`:  true,
		`{"type":"text","lines":[],"note":1}`:   false,
		`{"type":"text","lines":["a",1]}`:       false,
		`{"type":"text"}`:                       false,
		`{"type":"other","lines":[]}`:           false,
		`{"type":"none","why":null}`:            true,
		`{"type":"none","why":1}`:               false,
		`"text"`:                                false,
		`null`:                                  false,
	} {
		v, err := policy.DecodeJSON([]byte(text))
		assert.NoError(t, err)
		assert.Equal(t, want, Is(one, v), text)
	}
}

func TestSame(t *testing.T) {
	old, err := policy.DecodeJSON([]byte(`{"a":"x","n":1,"f":true,"l":[{"b":"y"}],"e":[],"z":null}`))
	assert.NoError(t, err)
	for text, want := range map[string]bool{
		`{"a":"","n":2,"f":false,"l":[],"e":[],"z":null}`:                   true,
		`{"a":"","n":2,"f":false,"l":[{"b":""},{"b":"q"}],"e":[],"z":null}`: true,
		`{"a":"","n":2,"f":false,"l":[{"b":1}],"e":[],"z":null}`:            false,
		`{"a":"","n":2,"f":false,"l":["s"],"e":[],"z":null}`:                false,
		`{"a":"","n":2,"f":false,"l":[],"e":["s"],"z":null}`:                false,
		`{"a":"","n":"2","f":false,"l":[],"e":[],"z":null}`:                 false,
		`{"a":"","n":2,"f":false,"l":[],"e":[]}`:                            false,
		`{"a":"","n":2,"f":false,"l":[],"e":[],"z":null,"more":1}`:          false,
	} {
		v, err := policy.DecodeJSON([]byte(text))
		assert.NoError(t, err)
		assert.Equal(t, want, Same(old, v), text)
	}
}

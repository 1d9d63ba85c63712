package repeats

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOnce(t *testing.T) {
	for text, once := range map[string]bool{
		`{}`:                                     true,
		` {"a": 1, "x": 1, "x": {"y":2,"y":3}} `: true,
		`{"x":[{"a":1,"a":2}],"a":null}`:         true,
		`{"a":1,"a":1}`:                          false,
		`{"a":1,"\u0061":2}`:                     false,
		`{"x":1,"a":{"b":1,"b":1}}`:              false,
		`{"a":1,"x":`:                            false,
		`{"a" 1}`:                                false,
		`{"x" "x"`:                               false,
		``:                                       false,
	} {
		assert.Equal(t, once, Once(text, []string{"a"}), text)
	}
}

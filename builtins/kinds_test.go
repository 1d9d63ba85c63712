package builtins

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestToolsOfAKindHaveThatKind(t *testing.T) {
	for name, kind := range toolKinds() {
		assert.Contains(t, ToolsOf(kind), name)
	}
	for _, kind := range []string{kindMCP, kindOther, ""} {
		assert.Nil(t, ToolsOf(kind))
	}
}

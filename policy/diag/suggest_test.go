package diag

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSuggest(t *testing.T) {
	events := []string{"PreToolExecution", "PreToolUse", "post_stop", "pre_tool_execution", "stop"}
	for name, want := range map[string]string{
		"pre_tool_exection": "pre_tool_execution",
		"pre_tool_exec":     "pre_tool_execution",
		"PreToolUs":         "PreToolUse",
		"PRE_TOOL_USE":      "PreToolUse",
		"sotp":              "stop",
		"sto":               "stop",
		"pre_tool":          "", // two begin so
		"notify":            "",
		"":                  "",
	} {
		assert.Equal(t, want, Suggest(name, events), name)
	}
	assert.Equal(t, `did you mean "stop"?`, DidYouMean("stpo", events, "none"))
	assert.Equal(t, "none", DidYouMean("unlike", events, "none"))
}

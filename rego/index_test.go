package rego

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnindexed(t *testing.T) {
	const begin, spell, constant = "begin with input.tool_name == …, or give the hook filter: {tool_name: …}",
		"compare the field with each spelling: input.tool_name in {\"Bash\", \"bash\"}",
		"test what is constant before the expression: input.tool_name == …, or startswith"
	for source, want := range map[string][]string{
		`deny contains "no" if input.tool_name == "Bash"`:                                                 nil,
		`deny contains "no" if { contains(input.tool_input.command, "x"); input.tool_name in {"a","b"} }`: nil,
		`deny contains "no" if startswith(input.tool_input.command, "git ")`:                              nil,
		`deny contains "no"`: nil,
		`deny contains "no" if lower(input.tool_name) == "bash"`:                               {"5:29 " + spell},
		`deny contains "no" if regex.match("^Ba", input.tool_name)`:                            {"5:29 " + constant},
		`deny contains "no" if not input.tool_name == "Bash"`:                                  {"5:29 " + begin},
		"default allow := false\nallow if { input.tool_name != \"Bash\"; input.tool_input.x }": {"6:18 " + begin},
		"deny contains \"no\" if contains(input.tool_input.command, \"x\")\ndeny contains \"no\" if input.tool_name == \"Bash\"\nask if helper\nhelper if input.tool_name == \"x\"": {"5:29 " + begin, "7:14 " + begin},
	} {
		var got []string
		for _, u := range compiled(t, guard(source)).Unindexed() {
			line, col := u.At.Position()
			got = append(got, at(line, col)+" "+u.Hint)
		}
		assert.Equal(t, want, got, source)
	}
}

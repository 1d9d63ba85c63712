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

// What native code finds rules by is more: only the rules that it does not find
// are listed.
func TestNativeUnindexed(t *testing.T) {
	const begin = "begin with input.tool_name == …, or give the hook filter: {tool_name: …}"
	for source, want := range map[string][]string{
		`deny contains "no" if input.tool_name == "Bash"`:                nil,
		`deny contains "no"`:                                             nil,
		`deny contains "no" if lower(input.tool_name) == "bash"`:         nil,
		`deny contains "no" if regex.match("^Ba", input.tool_name)`:      nil,
		`deny contains "no" if contains(input.tool_input.command, "rm")`: nil,
		"deny contains \"no\" if { is_bash; count(input.tool_input.command) > 9 }\nis_bash if input.tool_name in tools\ntools := {\"Bash\", \"Shell\"}": nil,
		"deny contains \"no\" if \"--force\" in words\nwords := split(cmd, \" \")\ncmd := input.tool_input.command":                                     nil,
		"deny contains bad if { some bad in [\"rm \", \"dd \"]; startswith(cmd, bad) }\ncmd := trim_space(input.tool_input.command)":                    nil,
		`deny contains "no" if not input.tool_name == "Bash"`:                                                                                           {"5:29 " + begin},
		`deny contains "no" if count(input.tool_input.command) > 9`:                                                                                     {"5:29 " + begin},
		"default allow := false\nallow if { input.tool_name != \"Bash\"; input.tool_input.x }":                                                          {"6:18 " + begin},
		"ask if helper\nhelper if input.tool_name != \"x\"\ndeny contains \"no\" if input.cwd == \"/\"":                                                 {"5:14 " + begin},
	} {
		_, n := nativelyOf(t, "h", source)
		var got []string
		for _, u := range n.Unindexed() {
			line, col := u.At.Position()
			got = append(got, at(line, col)+" "+u.Hint)
		}
		assert.Equal(t, want, got, source)
	}
}

# event: {"tool_name": "Bash", "tool_input": {"command": 1, "timeout": null, "x": 2}}
package guard.typed

import data.tables.tools

required := {
	"Bash": {"command": "string"},
	"Write": {"file_path": "string", "content": "string"},
	"Read": {"file_path": "string"},
	"MultiEdit": {"file_path": "string", "edits": "array"},
}

optional := {"Bash": {"timeout": "number", "run_in_background": "boolean"}, "Read": {"offset": "number", "limit": "number"}}

deny contains sprintf("%s lacks %s", [input.tool_name, name]) if {
	some name, _ in required[input.tool_name]
	not has(input.tool_input, name)
}

deny contains sprintf("%s.%s is %s, not %s", [input.tool_name, name, got, want]) if {
	some name, want in object.union(required[input.tool_name], object.get(optional, input.tool_name, {}))
	got := type_name(input.tool_input[name])
	got != want
}

ask contains sprintf("%s has unknown fields %v", [input.tool_name, extra]) if {
	known := object.keys(object.union(required[input.tool_name], object.get(optional, input.tool_name, {})))
	extra := object.keys(input.tool_input) - known
	count(extra) > 0
}

deny contains "null" if {
	some name, value in input.tool_input
	is_null(value)
	name != "comment"
}

ask contains "no such tool" if {
	not tools[input.tool_name]
	not required[input.tool_name]
}

has(o, key) if _ = o[key]

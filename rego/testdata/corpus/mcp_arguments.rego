# event: {"tool_name": "mcp__fs__write", "tool_input": {"args": {"path": "/etc/hosts", "nested": [{"path": "~/.ssh/id"}]}, "dry_run": false}}
# event: {"tool_name": "mcp__fs__list", "tool_input": {"args": {"path": "x", "deep": {"url": "http://a"}}, "dry_run": true, "a": {"b": {"c": {"d": {"e": 1}}}}}}
package guard.mcp_arguments

is_mcp if startswith(input.tool_name, "mcp__")

strings_in contains {"path": path, "value": value} if {
	is_mcp
	walk(input.tool_input, [path, value])
	is_string(value)
}

deny contains sprintf("%s: absolute path", [concat(".", [p | some e in s.path; p := sprintf("%v", [e])])]) if {
	some s in strings_in
	startswith(s.value, "/etc")
}

deny contains "home directory" if {
	some s in strings_in
	startswith(s.value, "~/")
}

ask contains msg if {
	some s in strings_in
	startswith(s.value, "http://")
	msg := sprintf("plain http at %v", [s.path])
}

deny contains "too deep" if {
	is_mcp
	depths := [count(path) | walk(input.tool_input, [path, _])]
	max(depths) > 4
}

ask contains "not a dry run" if {
	is_mcp
	input.tool_input.dry_run == false
}

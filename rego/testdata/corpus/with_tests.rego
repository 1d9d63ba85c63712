# event: {"tool_name": "Bash", "tool_input": {"command": "git push origin x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
package guard.with_tests

deny contains "no force push" if {
	input.tool_name == "Bash"
	contains(input.tool_input.command, "push --force")
	not input.tool_input.command in exceptions
}

default exceptions := []

exceptions := data.tables.exceptions

ask contains "push" if {
	startswith(input.tool_input.command, "git push")
	count(deny) == 0
}

allow if would_allow with input.permission_mode as "plan"

would_allow if {
	input.permission_mode == "plan"
	input.tool_name == "Read"
}

test_force if deny["no force push"] with input as {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}

test_exception if count(deny) == 0 with input as {"tool_name": "Bash", "tool_input": {"command": "git push --force"}} with data.tables.exceptions as ["git push --force"]

test_ask if ask == {"push"} with input as {"tool_input": {"command": "git push"}}

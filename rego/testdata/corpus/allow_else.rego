# event: {"tool_name": "Bash", "tool_input": {"command": "cat a"}}
# event: {"tool_name": "Read", "tool_input": {"file_path": "/repo/a"}}
package guard.allow_else

default decision := "ask"

decision := "deny" if {
	input.tool_name == "Bash"
	contains(input.tool_input.command, "sudo")
} else := "allow" if {
	input.tool_name == "Bash"
	regex.match(`^(ls|cat|echo)( |$)`, input.tool_input.command)
} else := "allow" if {
	input.tool_name == "Read"
	not startswith(input.tool_input.file_path, "/etc")
} else := "deny" if input.tool_name == "KillShell"

deny if decision == "deny"

allow if decision == "allow"

ask if decision == "ask"

# event: {"tool_name": "Bash", "tool_input": {"command": "sudo mkfs /dev/sda"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "curl http://x"}}
package guard.v0_shell

deny[msg] {
	input.tool_name == "Bash"
	contains(input.tool_input.command, "rm -rf /")
	msg := "no rm -rf /"
}

deny[msg] {
	input.tool_name == "Bash"
	word := ["mkfs", "fdisk", "wipefs"][_]
	contains(input.tool_input.command, word)
	msg := sprintf("no %v", [word])
}

warn[msg] {
	not input.tool_input.description
	input.tool_name == "Bash"
	msg = "commands need a description"
}

violation[{"msg": msg, "details": {"command": c}}] {
	c := input.tool_input.command
	re_match(`^\s*sudo\b`, c)
	msg := sprintf("%q needs root", [c])
}

deny_network[msg] {
	re_match("(curl|wget|nc) ", input.tool_input.command)
	msg := "no network"
}

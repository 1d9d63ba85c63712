package guard.rm

deny contains "rm of a root path" if {
	input.tool_name == "Bash"
	regex.match(`\brm\s+(-\w+\s+)*-\w*[rR]\w*\s+(-\w+\s+)*/(\s|$)`, input.tool_input.command)
}

deny contains "rm of the home directory" if {
	input.tool_name == "Bash"
	regex.match(`\brm\s+-[rRf]+\s+(~|\$HOME)(/\s|\s|/?$)`, input.tool_input.command)
}

deny contains "rm --no-preserve-root" if {
	input.tool_name == "Bash"
	contains(input.tool_input.command, "--no-preserve-root")
}

ask contains "recursive rm" if {
	input.tool_name == "Bash"
	startswith(input.tool_input.command, "rm -r")
	not deny["rm of a root path"]
}

ask contains "find with -delete" if {
	input.tool_name == "Bash"
	startswith(input.tool_input.command, "find ")
	endswith(input.tool_input.command, " -delete")
}

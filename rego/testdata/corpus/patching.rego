package guard.patching

patch := {"tool_input": object.union(input.tool_input, {"command": replaced})} if {
	startswith(input.tool_input.command, "npm ")
	replaced := concat("", ["pnpm ", trim_prefix(input.tool_input.command, "npm ")])
}

deny contains "yarn" if startswith(input.tool_input.command, "yarn")

context contains "pnpm is used here" if patch

message contains sprintf("%s → %s", [input.tool_input.command, patch.tool_input.command]) if input.permission_mode != "plan"

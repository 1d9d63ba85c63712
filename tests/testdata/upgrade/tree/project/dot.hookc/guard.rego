package guard

deny contains "rego denies it" if contains(input.tool_input.command, "rego-denies")

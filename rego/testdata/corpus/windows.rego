package guard.windows

command := lower(input.tool_input.command)

deny contains "formats a drive" if regex.match(`\bformat(\.com)?\s+[a-z]:`, command)

deny contains "deletes a tree" if {
	some p in ["del /s /q ", "rd /s /q ", "rmdir /s /q "]
	startswith(command, p)
}

deny contains "changes the registry" if regex.match(`\breg(\.exe)?\s+(add|delete)\b`, command)

deny contains "an encoded command" if {
	startswith(command, "powershell")
	regex.match(`\s-e(nc(odedcommand)?)?\s`, command)
}

ask contains "bypasses the policy" if contains(command, "-executionpolicy bypass")

deny contains "a path of the system" if {
	p := replace(input.tool_input.file_path, `\`, "/")
	startswith(lower(p), "c:/windows/")
}

package guard.partial_objects

verdicts["deny"]["shell"] := "no shells" if input.tool_name == "Bash"

verdicts["deny"][input.tool_name] := sprintf("no %s in plan mode", [input.tool_name]) if input.permission_mode == "plan"

verdicts["ask"][name] := msg if {
	some name, value in input.tool_input
	is_string(value)
	contains(value, "prod")
	msg := sprintf("%s names production", [name])
}

deny contains msg if some msg in verdicts.deny

ask contains msg if some msg in verdicts.ask

warn[code] := msg if {
	some i, code in ["W1", "W2", "W3"]
	msg := verdicts[_][_]
	count(msg) % 3 == i
}

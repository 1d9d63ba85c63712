# event: {"tool_name": "Bash", "tool_input": {"command": "echo 'unbalanced"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "psql -c \"select '$(id)'\" `whoami`"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "a\nb\nc\nd\ne\nf"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "a\u0000b"}}
package guard.quotes

c := input.tool_input.command

deny contains sprintf("unbalanced %s", [q]) if {
	some q in ["'", "\""]
	strings.count(c, q) % 2 == 1
}

ask contains "a substitution" if contains(c, "$(")

ask contains "backticks" if count(indexof_n(c, "`")) >= 2

deny contains "a substitution within quotes" if {
	some m in regex.find_n(`"[^"]*"`, c, -1)
	contains(m, "$(")
}

deny contains "a null byte" if contains(c, "\u0000")

deny contains "several lines" if {
	lines := [l | some l in split(c, "\n"); l != ""; not startswith(l, "#")]
	count(lines) > 5
}

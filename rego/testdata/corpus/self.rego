# event: {"tool_name": "Bash", "tool_input": {"command": "rm hooks.yaml"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "cat a/.hookc/b"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "pkill -f hookc"}}
package guard.self

paths contains input.tool_input.file_path

paths contains input.tool_input.path

paths contains w if some w in split(input.tool_input.command, " ")

own := ["hooks.yaml", "HOOK.md", "settings.json", "settings.local.json", "CLAUDE.md"]

deny contains sprintf("%s decides what agents may do", [p]) if {
	some p in paths
	some name in own
	endswith(p, name)
	not startswith(p, "examples/")
}

deny contains "switches hooks off" if {
	some flag in ["--no-hooks", "--dangerously-skip-permissions", "HOOKC_OFF=1"]
	contains(input.tool_input.command, flag)
}

ask contains "asks about hooks" if {
	some p in paths
	glob.match("**/.hookc/**", ["/"], p)
}

deny contains "kills the daemon" if regex.match(`\b(pkill|killall|kill)\b.*\bhookc\b`, input.tool_input.command)

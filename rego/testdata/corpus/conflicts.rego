# event: {"tool_name": "Bash", "tool_input": {"command": "git status"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "git push"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "push"}}
# event: {"tool_name": "Bash", "step_count": 15, "tool_input": {"command": "x", "owners": {"a": "b"}}}
# event: {"tool_name": "Build", "step_count": 21, "tool_input": {"owners": {"/": "eve"}}}
package guard.conflicts

# Two rules may give two values: that is an error, and stays one.
verdict := "deny" if contains(input.tool_input.command, "push")

verdict := "allow" if startswith(input.tool_input.command, "git ")

deny if verdict == "deny"

allow if verdict == "allow"

limit(tool) := 10 if tool == "Bash"

limit(tool) := 20 if startswith(tool, "B")

ask contains "over the limit" if input.step_count > limit(input.tool_name)

owner[path] := who if {
	some path, who in input.tool_input.owners
}

owner["/"] := "root"

deny_owner contains sprintf("%s: %s", [p, w]) if some p, w in owner

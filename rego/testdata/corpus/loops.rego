# event: {"tool_name": "Bash", "tool_input": {"command": "make test"}, "raw": {"recent": [{"tool": "Bash", "command": "make test", "ok": false}, {"tool": "Bash", "command": "make test", "ok": false}, {"tool": "Bash", "command": "make test", "ok": false}]}}
# event: {"tool_name": "Read", "tool_input": {"file_path": "x"}, "raw": {"recent": [{"tool": "Read", "ok": true}, {"tool": "Read", "ok": true}]}, "stop_hook_active": true}
package guard.loops

recent := input.raw.recent

same := [r | some r in recent; r.command == input.tool_input.command]

deny contains sprintf("%q failed %d times", [input.tool_input.command, n]) if {
	n := count([1 | some r in same; not r.ok])
	n >= 3
}

ask contains "the same tool again and again" if {
	count(recent) >= 2
	every r in recent {
		r.tool == input.tool_name
	}
	count({r.tool | some r in recent}) == 1
}

skip if input.stop_hook_active == true

feedback contains sprintf("Tried: %s", [concat(", ", {r.command | some r in recent; is_string(r.command)})]) if {
	some r in recent
	r.ok == false
}

# event: {"tool_name": "Write", "permission_mode": "plan", "agent_id": "a1", "agent_type": "reviewer", "tool_input": {"file_path": "x"}}
# event: {"tool_name": "Bash", "permission_mode": "bypassPermissions", "tool_input": {"command": "ls"}}
package guard.modes

import data.lib.session
import data.tables

deny contains sprintf("%s needs level %d, mode %s has %d", [input.tool_name, session.needs(input.tool_name), session.mode, session.level]) if {
	session.needs(input.tool_name) > session.level
}

deny contains sprintf("agent %s may not use %s", [session.name, input.tool_name]) if {
	allowed := tables.agents[session.name].tools
	not input.tool_name in allowed
}

ask contains "a subagent in bypass mode" if {
	session.subagent
	input.permission_mode == "bypassPermissions"
}

allow if {
	session.trusted
	input.tool_name == "Bash"
}

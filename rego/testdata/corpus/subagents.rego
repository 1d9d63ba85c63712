# event: {"tool_name": "Task", "agent_type": "reviewer", "tool_input": {"subagent_type": "builder", "prompt": "DO IT"}}
# event: {"tool_name": "Task", "agent_id": "", "tool_input": {"subagent_type": "nobody", "prompt": "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\n"}}
package guard.subagents

import data.tables.agents

is_task if input.tool_name in {"Task", "Agent", "spawn_agent"}

type := input.tool_input.subagent_type

deny contains sprintf("no agent is called %q", [type]) if {
	is_task
	not agents[type]
}

deny contains "agents start no agents" if {
	is_task
	input.agent_id != ""
}

deny contains sprintf("%s may use %v, which %s may not", [type, extra, input.agent_type]) if {
	is_task
	mine := {t | some t in agents[input.agent_type].tools}
	theirs := {t | some t in agents[type].tools}
	extra := theirs - mine
	count(extra) > 0
}

ask contains "a long task" if {
	is_task
	count(split(input.tool_input.prompt, "\n")) > 50
}

ask contains "a task in capitals" if {
	is_task
	input.tool_input.prompt == upper(input.tool_input.prompt)
	count(input.tool_input.prompt) > 3
}

context contains sprintf("%s has %d steps.", [type, agents[type].max_steps]) if is_task

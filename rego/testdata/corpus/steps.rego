# event: {"agent_type": "reviewer", "step_count": 35}
# event: {"step_count": 59}
package guard.steps

import data.tables

budget := tables.agents[input.agent_type].max_steps

budget := 60 if not tables.agents[input.agent_type]

stop contains sprintf("%d steps of %d are used", [input.step_count, budget]) if input.step_count >= budget

context contains sprintf("%.0f%% of the steps are used", [(input.step_count * 100) / budget]) if {
	input.step_count * 4 >= budget * 3
	input.step_count < budget
}

ask contains "the session is long" if input.duration_seconds > 3600

deny contains "too many tokens before compaction" if input.pre_tokens >= 180000

ask contains "negative counters" if {
	some name in ["step_count", "duration_seconds", "pre_tokens"]
	input[name] < 0
}

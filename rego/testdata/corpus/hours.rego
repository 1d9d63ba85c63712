# event: {"tool_name": "Bash", "timestamp": "2026-03-07T12:00:00Z", "tool_input": {"command": "terraform apply"}}
# event: {"tool_name": "Bash", "timestamp": "2026-03-04T22:30:00Z", "tool_input": {"command": "kubectl delete pod x"}}
# event: {"tool_name": "Bash", "timestamp": "2025-12-24T09:30:00+02:00", "tool_input": {"command": "git push"}}
# event: {"tool_name": "Bash", "timestamp": "2026-03-06T17:30:00Z", "tool_input": {"command": "deploy.sh"}}
package guard.hours

import data.tables.hours

now := time.parse_rfc3339_ns(input.timestamp)

clock := time.clock(now)

weekday := time.weekday(now)

risky if {
	input.tool_name == "Bash"
	some word in ["terraform apply", "kubectl delete", "deploy"]
	contains(input.tool_input.command, word)
}

deny contains sprintf("no deployments on %s", [weekday]) if {
	risky
	not weekday in hours.days
}

deny contains sprintf("no deployments at %02d:%02d", [clock[0], clock[1]]) if {
	risky
	weekday in hours.days
	not clock[0] in numbers.range(hours.from, hours.to)
}

ask contains "it is Friday afternoon" if {
	risky
	weekday == "Friday"
	clock[0] >= 15
}

deny contains "the year's end is frozen" if {
	[_, month, day] := time.date(now)
	month == 12
	day >= 20
	contains(input.tool_input.command, "push")
}

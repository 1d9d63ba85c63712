# event: {"tool_name": "Bash", "tool_input": {"command": "deploy db", "service": "db"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "deploy web", "service": "web", "skip": ["cache"]}}
# event: {"tool_name": "Bash", "tool_input": {"command": "deploy nothing", "service": "nothing"}}
package guard.services

import data.tables.services

needs[name] := spec.needs if some name, spec in services

dependents[name] contains other if {
	some name, _ in services
	some other, list in needs
	name in list
}

reached := graph.reachable(needs, {input.tool_input.service})

deny contains sprintf("no service %v", [input.tool_input.service]) if not services[input.tool_input.service]

ask contains sprintf("%s is needed by %v", [s, sort(dependents[s])]) if {
	s := input.tool_input.service
	count(dependents[s]) > 0
}

deny contains sprintf("skips %s, which is needed", [skipped]) if {
	some skipped in input.tool_input.skip
	skipped in reached
}

ask contains "a service of tier 0" if services[input.tool_input.service].tier == 0

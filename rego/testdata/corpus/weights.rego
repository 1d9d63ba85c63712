# event: {"tool_name": "Bash", "tool_input": {"memory": "8Gi", "cpu": "1500m", "replicas": 12}}
# event: {"tool_name": "Bash", "tool_input": {"memory": "100Mi", "cpu": "4", "replicas": 1.5}}
package guard.weights

deny contains sprintf("%s of memory", [input.tool_input.memory]) if units.parse_bytes(input.tool_input.memory) > units.parse_bytes("4Gi")

deny contains sprintf("%v cpus", [cpu]) if {
	cpu := units.parse(input.tool_input.cpu)
	cpu > 2
}

ask contains sprintf("%d replicas", [input.tool_input.replicas]) if input.tool_input.replicas > 10

deny contains "a part of a replica" if input.tool_input.replicas != floor(input.tool_input.replicas)

ask contains sprintf("rounds to %d", [round(input.tool_input.replicas)]) if {
	ceil(input.tool_input.replicas) - floor(input.tool_input.replicas) == 1
}

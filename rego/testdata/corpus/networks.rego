# event: {"tool_name": "Bash", "tool_input": {"host": "10.2.3.4", "cidr": "0.0.0.0/0", "port": 22}}
# event: {"tool_name": "Bash", "tool_input": {"host": "169.254.169.254", "cidr": "10.1.0.0/16", "port": "8080"}}
# event: {"tool_name": "Bash", "tool_input": {"host": "8.8.8.8", "cidr": "192.168.1.0/24", "ports": [80, 443, 22]}}
package guard.networks

import data.tables.networks

deny contains sprintf("%s is internal", [input.tool_input.host]) if {
	some block in networks.internal
	net.cidr_contains(block, input.tool_input.host)
}

deny contains "metadata" if {
	some block in networks.metadata
	not contains(block, ":")
	net.cidr_contains(block, input.tool_input.host)
}

deny contains "open to everybody" if input.tool_input.cidr in {"0.0.0.0/0", "::/0"}

ask contains sprintf("overlaps %s", [block]) if {
	some block in networks.internal
	net.cidr_intersects(block, input.tool_input.cidr)
}

deny contains sprintf("port %v", [p]) if {
	some p in {22, 23, 3389, 5900}
	p == to_number(input.tool_input.port)
}

ask contains sprintf("ports %v", [odd]) if {
	odd := {p | some p in input.tool_input.ports; not p in {80, 443}}
	count(odd) > 0
}

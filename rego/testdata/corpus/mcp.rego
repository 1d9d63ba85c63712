# event: {"tool_name": "mcp__github__merge_pull_request", "tool_input": {"owner": "x"}}
# event: {"tool_name": "mcp__unknown__do", "tool_input": {}}
# event: {"tool_name": "mcp__postgres__query", "tool_input": {"sql": "DROP TABLE users"}}
# event: {"tool_name": "mcp__slack__remove_user", "tool_input": {"channel": "#general"}}
# event: {"tool_name": "mcp__slack__post_message", "tool_input": {"channel": "#general", "text": "@here"}}
package guard.mcp

import data.tables

parts := split(input.tool_name, "__")

is_mcp if {
	count(parts) == 3
	parts[0] == "mcp"
}

server := parts[1] if is_mcp

tool := parts[2] if is_mcp

deny contains sprintf("mcp server %q is unknown", [server]) if not tables.mcp[server]

ask contains sprintf("%s writes to %s", [tool, server]) if tool in tables.mcp[server].write

deny contains sprintf("%s.%s is on no list", [server, tool]) if {
	lists := tables.mcp[server]
	not tool in lists.allow
	not tool in lists.write
}

deny contains "changes the database" if {
	server == "postgres"
	regex.match(`(?i)^\s*(drop|delete|truncate|update|insert|alter)\b`, input.tool_input.sql)
}

deny contains "mentions everybody" if {
	server == "slack"
	some mention in ["@here", "@channel", "@everyone"]
	contains(input.tool_input.text, mention)
}

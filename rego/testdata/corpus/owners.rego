# event: {"tool_name": "Edit", "agent_type": "builder", "tool_input": {"file_path": "billing/a.go"}}
# event: {"tool_name": "Edit", "agent_type": "payments", "tool_input": {"file_path": "infra/a.tf"}}
# event: {"tool_name": "Write", "agent_type": "docs", "tool_input": {"file_path": "CODEOWNERS"}}
# event: {"tool_name": "Write", "agent_type": "docs", "tool_input": {"file_path": "src/a.go"}}
package guard.owners

import data.tables

rel := trim_prefix(input.tool_input.file_path, "./")

owners contains o if {
	some dir, list in tables.owners
	startswith(rel, dir)
	some o in list
}

deny contains {"msg": sprintf("%s belongs to %s", [rel, concat(" or ", owners)]), "owners": owners} if {
	count(owners) > 0
	not input.agent_type in owners
}

ask contains {"msg": "shared ownership", "count": count(owners)} if count(owners) > 1

deny contains {"msg": "the owners file is owned by nobody"} if rel in {"CODEOWNERS", ".github/CODEOWNERS"}

deny contains {"msg": sprintf("%s writes below %v only", [input.agent_type, roots])} if {
	roots := tables.agents[input.agent_type].paths
	every root in roots {
		not startswith(rel, root)
	}
}

# event: {"tool_name": "Write", "raw": {"branch": "main"}, "tool_input": {"file_path": "a"}}
# event: {"tool_name": "Bash", "raw": {"branch": "feature/x"}, "tool_input": {"command": "git checkout -b Fix_It"}}
# event: {"tool_name": "Bash", "raw": {"branch": "release/2"}, "tool_input": {"command": "git merge x"}}
package guard.branches

import data.tables

branch := object.get(input, ["raw", "branch"], "unknown")

protected if branch in tables.protected_branches

protected if {
	some p in tables.release_prefixes
	startswith(branch, p)
}

deny contains sprintf("no writes on %s", [branch]) if {
	protected
	input.tool_name in {"Write", "Edit", "MultiEdit"}
}

deny contains sprintf("no merges on %s", [branch]) if {
	protected
	regex.match(`^git\s+(merge|cherry-pick|revert)\b`, input.tool_input.command)
}

ask contains sprintf("branch name %q", [name]) if {
	words := split(input.tool_input.command, " ")
	words[0] == "git"
	words[1] in {"checkout", "switch"}
	words[2] in {"-b", "-c"}
	name := words[3]
	not regex.match(`^(feature|fix|chore|docs)/[a-z0-9-]+$`, name)
}

context contains sprintf("The branch is %s.", [branch]) if branch != "unknown"

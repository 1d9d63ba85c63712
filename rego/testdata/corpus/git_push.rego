# event: {"tool_name": "Bash", "tool_input": {"command": "git push --force origin main"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "git push origin HEAD:release/1.2; git push --delete origin x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "git push --tags"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "git push --mirror origin"}}
package guard.git_push

import data.lib.git
import data.tables

protected(branch) if branch in tables.protected_branches

protected(branch) if {
	some prefix in tables.release_prefixes
	startswith(branch, prefix)
}

branches(line) := {b |
	some w in line
	parts := split(w, ":")
	b := parts[count(parts) - 1]
}

deny contains msg if {
	some line in git.pushes
	git.forced(line)
	some b in branches(line)
	protected(b)
	msg := sprintf("force push to %s", [b])
}

deny contains msg if {
	some line in git.pushes
	"--delete" in line
	msg := "deletes a remote branch"
}

deny contains "mirrors everything" if {
	some line in git.pushes
	"--mirror" in line
}

ask contains msg if {
	some line in git.pushes
	not git.forced(line)
	some b in branches(line)
	protected(b)
	msg := sprintf("push to protected branch %q", [b])
}

ask contains "pushes tags" if {
	some line in git.pushes
	line[_] == "--tags"
}

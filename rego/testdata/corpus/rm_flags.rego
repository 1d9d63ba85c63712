# event: {"tool_name": "Bash", "tool_input": {"command": "cd /tmp && rm -r --force /etc build"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "rm -fr ./a ../b .git"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "rm a b c d e f g h i j k"}}
package guard.rm_flags

import data.lib.say
import data.lib.shell

removals contains segment if {
	some segment in shell.segments
	shell.words(segment)[0] == "rm"
}

recursive(segment) if shell.short_flag(segment, "r")

recursive(segment) if shell.short_flag(segment, "R")

recursive(segment) if "--recursive" in shell.flags(segment)

forced(segment) if shell.short_flag(segment, "f")

forced(segment) if "--force" in shell.flags(segment)

deny contains say.violation("RM001", sprintf("removes %s by force", [arg])) if {
	some segment in removals
	recursive(segment)
	forced(segment)
	some arg in shell.arguments(segment)
	strings.any_prefix_match(arg, ["/etc", "/usr", "/var", "/boot"])
}

deny contains say.violation("RM002", "removes the repository's history") if {
	some segment in removals
	recursive(segment)
	".git" in shell.arguments(segment)
}

deny contains say.violation("RM003", sprintf("leaves the working directory: %v", [outside])) if {
	some segment in removals
	outside := {a | some a in shell.arguments(segment); startswith(a, "../")}
	count(outside) > 0
}

ask contains say.violation("RM004", sprintf("removes %d things at once", [n])) if {
	some segment in removals
	n := count(shell.arguments(segment))
	n > 10
}

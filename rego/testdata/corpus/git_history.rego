# event: {"tool_name": "Bash", "tool_input": {"command": "git commit --no-verify -m x"}}
package guard.git_history

command := input.tool_input.command

is_bash if input.tool_name == "Bash"

deny contains "hard reset" if {
	is_bash
	contains(command, "git reset --hard")
}

deny contains "filter-branch rewrites history" if {
	is_bash
	contains(command, "git filter-branch")
}

deny contains "git clean deletes untracked files" if {
	is_bash
	regex.match(`git\s+clean\s+-[a-z]*f`, command)
}

ask contains "amends a commit" if {
	is_bash
	contains(command, "git commit")
	contains(command, "--amend")
}

ask contains "skips hooks" if {
	is_bash
	some flag in ["--no-verify", "-n "]
	contains(command, sprintf("git commit %s", [flag]))
}

ask contains "rebases" if {
	is_bash
	startswith(command, "git rebase")
	not endswith(command, "--abort")
	not endswith(command, "--continue")
}

deny contains "stash drop loses work" if {
	is_bash
	command in {"git stash drop", "git stash clear"}
}

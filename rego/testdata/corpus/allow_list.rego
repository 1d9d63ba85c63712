package guard.allow_list

default allow := false

allow if input.tool_name in {"Read", "Glob", "Grep", "LS"}

allow if {
	input.tool_name == "Bash"
	input.tool_input.command in {"ls", "pwd", "git status", "git diff", "go test ./..."}
}

allow if {
	input.tool_name == "Bash"
	some prefix in ["git log", "git show", "go vet", "cat "]
	startswith(input.tool_input.command, prefix)
	not regex.match("[;&|`$><]", input.tool_input.command)
}

allow if {
	input.tool_name == "WebFetch"
	startswith(input.tool_input.url, "https://pkg.go.dev/")
}

deny contains "not on the list" if {
	not allow
	input.permission_mode == "plan"
}

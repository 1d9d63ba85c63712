# event: {"tool_name": "Bash", "tool_input": {"command": "echo x >> ~/.bashrc"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "cat a > /etc/hosts 2>&1"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "ls | tee -a /usr/local/x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "echo x > .claude/settings.json"}}
package guard.redirects

targets contains t if {
	some m in regex.find_all_string_submatch_n(`(?:^|[^0-9&])>{1,2}\s*([^\s&;|]+)`, input.tool_input.command, -1)
	t := m[1]
}

targets contains t if {
	some m in regex.find_all_string_submatch_n(`\btee\s+(?:-a\s+)?(\S+)`, input.tool_input.command, -1)
	t := m[1]
}

deny contains sprintf("writes to %s", [t]) if {
	some t in targets
	strings.any_prefix_match(t, {"/etc/", "/usr/", "/bin/", "/boot/"})
}

deny contains sprintf("changes the shell's start: %s", [t]) if {
	some t in targets
	regex.match(`\.(bashrc|zshrc|profile|bash_profile)$`, t)
}

ask contains sprintf("overwrites %d files", [count(files)]) if {
	files := {t | some t in targets; t != "/dev/null"}
	count(files) > 0
}

deny contains "the agent's own settings" if {
	some t in targets
	some part in [".claude/", ".hookc/", ".codex/"]
	contains(t, part)
}

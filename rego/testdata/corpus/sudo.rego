# event: {"tool_name": "Bash", "tool_input": {"command": "sudo ls"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "ls && sudo rm x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "chown root:root x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "chmod 777 x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "chmod 4755 x"}}
package guard.sudo

words := split(input.tool_input.command, " ")

elevators := {"sudo", "doas", "su", "pkexec"}

deny contains sprintf("%s raises privileges", [words[0]]) if words[0] in elevators

deny contains sprintf("%s raises privileges later", [w]) if {
	some i, w in words
	i > 0
	w in elevators
	words[i - 1] in {"&&", ";", "||", "|"}
}

deny contains "changes the owner to root" if {
	words[0] == "chown"
	some w in words
	regex.match(`^root(:|$)`, w)
}

deny contains "world writable" if {
	words[0] == "chmod"
	some mode in ["777", "0777", "a+w", "o+w", "a+rwx"]
	mode in words
}

ask contains "setuid" if {
	words[0] == "chmod"
	regex.match(`\bchmod\s+(\d*[4-7]\d{3}|[ugo]*\+s)\b`, input.tool_input.command)
}

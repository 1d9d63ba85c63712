package guard.background

deny contains "detaches" if {
	input.tool_name == "Bash"
	some word in ["nohup ", "setsid ", "disown", "screen -d", "tmux new -d"]
	contains(input.tool_input.command, word)
}

ask contains "in the background" if input.tool_input.run_in_background

ask contains "ends with &" if regex.match(`[^&]&\s*$`, input.tool_input.command)

deny contains "a schedule" if regex.match(`^(crontab|at|systemctl (enable|start))\b`, input.tool_input.command)

deny contains "an endless loop" if regex.match(`while\s+(true|:|\[ 1 \])\s*;\s*do`, input.tool_input.command)

deny contains "a server on all interfaces" if {
	some host in ["0.0.0.0", "--host=*", "-b *"]
	contains(input.tool_input.command, host)
}

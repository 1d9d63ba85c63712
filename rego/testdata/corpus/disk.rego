package guard.disk

deny contains reason if {
	some pattern, reason in {
		`\bmkfs(\.\w+)?\b`: "makes a file system",
		`\bdd\b.*\bof=/dev/`: "writes to a device",
		`>\s*/dev/(sd|nvme|disk)`: "redirects to a device",
		`:\(\)\s*\{\s*:\|:&\s*\}`: "a fork bomb",
		`\b(shutdown|reboot|halt|poweroff)\b`: "stops the machine",
	}
	regex.match(pattern, input.tool_input.command)
}

deny contains "unmounts" if startswith(input.tool_input.command, "umount ")

ask contains "fills the disk" if {
	contains(input.tool_input.command, "/dev/zero")
	not contains(input.tool_input.command, "count=")
}

deny contains "kills everything" if {
	input.tool_input.command in ["kill -9 -1", "killall5", "pkill -9 ."]
}

# event: {"tool_name": "Bash", "tool_input": {"command": "LD_PRELOAD=/tmp/x.so ls"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "PATH=/tmp ls"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "printenv"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "NODE_TLS_REJECT_UNAUTHORIZED=0 npm test"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "curl --insecure https://x"}}
package guard.environment

import data.lib.shell

assignments[name] := value if {
	some m in regex.find_all_string_submatch_n(`(?:^|\s|export\s+)([A-Z_][A-Z0-9_]*)=(\S*)`, shell.command, -1)
	name := m[1]
	value := m[2]
}

deny contains sprintf("sets %s", [name]) if {
	some name in {"LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PYTHONSTARTUP"}
	assignments[name]
}

deny contains "PATH loses its own" if {
	p := assignments.PATH
	not contains(p, "$PATH")
}

ask contains "prints the environment" if shell.command in {"env", "printenv", "set", "export -p"}

deny contains "switches TLS checks off" if {
	some name, value in assignments
	[name, value] in [["NODE_TLS_REJECT_UNAUTHORIZED", "0"], ["GIT_SSL_NO_VERIFY", "true"], ["PYTHONHTTPSVERIFY", "0"]]
}

deny contains "insecure flags" if {
	shell.calls("curl")
	some f in shell.flags(shell.command)
	f in {"-k", "--insecure"}
}

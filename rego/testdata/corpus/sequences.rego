# event: {"tool_name": "Bash", "tool_input": {"command": "curl x; sh y"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "a;b;c;d;e;f;g;h;i;j;k;l;m"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "cd x && ls | bash"}}
package guard.sequences

import data.lib.shell

programs := [shell.words(s)[0] | some s in shell.segments]

deny contains sprintf("%s after %s", [programs[i + 1], programs[i]]) if {
	some i
	programs[i] in {"curl", "wget"}
	programs[i + 1] in {"sh", "bash", "chmod"}
}

deny contains sprintf("%d programs", [count(programs)]) if count(programs) > 12

ask contains sprintf("unknown programs: %s", [concat(", ", unknown)]) if {
	unknown := {p | some p in programs} - {"ls", "cat", "git", "go", "make", "echo", "cd", "curl", "wget", "sh", "bash", "chmod"}
	count(unknown) > 0
}

ask contains "cd before all else" if programs[0] == "cd"

deny contains "ends in a shell" if array.reverse(programs)[0] in {"sh", "bash"}

# event: {"tool_name": "Write", "cwd": "/repo", "tool_input": {"file_path": "/etc/passwd", "content": "x"}}
# event: {"tool_name": "Read", "cwd": "/repo", "tool_input": {"path": "../other/x"}}
# event: {"tool_name": "Edit", "cwd": "/repo", "tool_input": {"file_path": "/repo/.git/config"}}
# event: {"tool_name": "Read", "cwd": "/repo", "tool_input": {"file_path": "/etc//shadow"}}
package guard.path_jail

import data.lib.paths

writes if input.tool_name in ["Write", "Edit", "MultiEdit", "NotebookEdit"]

reads if input.tool_name in ["Read", "Glob", "Grep"]

deny contains sprintf("%s writes outside of %s", [input.tool_name, input.cwd]) if {
	writes
	not paths.inside(input.cwd)
	not paths.inside("/tmp")
}

deny contains "the path climbs" if {
	writes
	paths.climbs
}

ask contains sprintf("reads %v", [paths.target]) if {
	reads
	paths.climbs
}

deny contains "git's own files" if {
	writes
	paths.inside(sprintf("%s/.git", [input.cwd]))
}

deny contains "reads the system's secrets" if {
	reads
	paths.absolute in {"/etc/shadow", "/etc/gshadow", "/etc/sudoers"}
}

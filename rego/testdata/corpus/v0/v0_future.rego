package guard.v0_future

import future.keywords

deny contains msg if {
	some t in ["Bash", "Write"]
	input.tool_name == t
	every p in ["/repo", "/tmp"] { not startswith(input.cwd, p) }
	msg := sprintf("%s in %s", [t, input.cwd])
}

allow := true {
	input.tool_name in {"Read", "LS"}
}

ask[msg] if {
	msg := "no session"
	not input.session_id
}

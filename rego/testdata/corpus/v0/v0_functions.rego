# event: {"tool_name": "Bash", "tool_input": null}
# event: {"tool_name": "Bash", "step_count": 101}
package guard.v0_functions

default allow = false

allow {
	is_read
	not sensitive(input.tool_input.file_path)
}

allow {
	input.permission_mode == "bypassPermissions"
}

is_read {
	input.tool_name == "Read"
} {
	input.tool_name == "Grep"
}

sensitive(p) {
	startswith(p, "/etc/")
}

sensitive(p) {
	contains(p, "secret")
} else {
	endswith(p, ".pem")
}

grade(n) = "high" {
	n > 100
} else = "middle" {
	n > 10
} else = "low"

deny[msg] {
	grade(input.step_count) == "high"
	msg := "many steps"
}

deny[{"reason": msg, "grade": g}] {
	g := grade(input.step_count)
	g != "low"
	input.tool_name != "Read"
	msg := sprintf("%s: %v", [input.tool_name, g])
}

deny["null"] {
	input.tool_input == null
}

deny[msg] {
	all([startswith(input.cwd, "/"), input.cwd != "/", not_home])
	msg := sprintf("session %v", [input.session_id])
	msg != "session s"
}

not_home {
	not startswith(input.cwd, "/home")
}

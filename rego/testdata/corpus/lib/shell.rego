# Reads a command line roughly, as guardrails do.
package lib.shell

is_shell if input.tool_name in {"Bash", "Shell", "run_shell_command"}

command := trim_space(input.tool_input.command) if is_shell

segments := [trim_space(s) | some s in regex.split(`\s*(?:&&|\|\||;|\|)\s*`, command)]

words(text) := [w | some w in regex.split(`\s+`, trim_space(text)); w != ""]

calls(program) if {
	some segment in segments
	startswith(segment, program)
	rest := substring(segment, count(program), -1)
	regex.match(`^(\s|$)`, rest)
}

flags(text) := {w | some w in words(text); startswith(w, "-")}

short_flag(text, letter) if {
	some f in flags(text)
	not startswith(f, "--")
	contains(f, letter)
}

arguments(text) := [w | some i, w in words(text); i > 0; not startswith(w, "-")]

# event: {"tool_name": "Bash", "tool_input": {"command": "x", "sha256": "ABC"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "rm -rf build"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "y", "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}
package guard.digests

approved := {
	"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
	"a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa",
}

digest := crypto.sha256(input.tool_input.command)

allow if digest in approved

deny contains "the digest is not well formed" if {
	input.tool_input.sha256
	not regex.match(`^[0-9a-f]{64}$`, input.tool_input.sha256)
}

deny contains sprintf("the digest is of another command: %s", [digest]) if {
	lower(input.tool_input.sha256) != digest
}

context contains sprintf("command %s", [substring(digest, 0, 12)]) if not allow

# event: {"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_arguments": "{\"command\": \"sudo ls\", \"env\": {\"DEBUG\": \"1\"}}"}
# event: {"tool_name": "Write", "tool_input": {"file_path": "package.json", "content": "{\"scripts\": {\"postinstall\": \"node x.js\"}, \"dependencies\": {\"left-pad\": \"*\", \"a\": \"latest\"}}"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": "package.json", "content": "{\"private\": false, \"dependencies\": {\"a\": \"git+https://x\"}}"}}
package guard.json_field

arguments := json.unmarshal(input.tool_arguments)

package_json := json.unmarshal(input.tool_input.content) if {
	endswith(input.tool_input.file_path, "package.json")
	json.is_valid(input.tool_input.content)
}

deny contains "sudo in the arguments" if contains(arguments.command, "sudo ")

deny contains sprintf("%s in the environment", [name]) if {
	some name, _ in arguments.env
	name in {"DEBUG", "LD_PRELOAD", "NODE_OPTIONS"}
}

deny contains sprintf("script %s runs on install", [script]) if {
	some script in ["preinstall", "install", "postinstall"]
	package_json.scripts[script]
}

ask contains sprintf("%s@%s is not pinned", [name, version]) if {
	some name, version in package_json.dependencies
	version in {"*", "latest", ""}
}

ask contains sprintf("%s comes from git", [name]) if {
	some name, version in package_json.dependencies
	startswith(version, "git+")
}

deny contains "publishes" if package_json.private == false

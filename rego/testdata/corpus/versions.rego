# event: {"tool_name": "Bash", "tool_input": {"command": "npm i left-pad@1.0.0", "version": "1.2.3-beta.1", "engines": {"node": "16.1.0"}}}
# event: {"tool_name": "Bash", "tool_input": {"version": "2.0.0", "current": "1.9.9"}}
# event: {"tool_name": "Bash", "tool_input": {"version": "v1", "engines": {"go": "1.21.9"}}}
package guard.versions

import data.tables.versions

v := input.tool_input.version

deny contains sprintf("%v is no version", [v]) if not semver.is_valid(v)

ask contains sprintf("%s is a prerelease", [v]) if {
	semver.is_valid(v)
	contains(v, "-")
}

deny contains sprintf("%s %s is older than %s", [tool, have, least]) if {
	some tool, have in input.tool_input.engines
	least := versions[tool]
	semver.compare(have, least) == -1
}

ask contains "a major step" if {
	current := to_number(split(input.tool_input.current, ".")[0])
	next := to_number(split(v, ".")[0])
	next > current
}

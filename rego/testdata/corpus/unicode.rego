# event: {"tool_name": "Write", "tool_input": {"file_path": "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé."}}
package guard.unicode

name := input.tool_input.file_path

deny contains "looks like another name" if regex.match(`[\p{Cyrillic}\p{Greek}]`, name)

deny contains "bidirectional text" if {
	some c in ["\u202e", "\u2066", "\u2067"]
	contains(name, c)
}

ask contains "emoji in a path: 🚀" if contains(name, "🚀")

ask contains sprintf("%d characters, not %d", [count(name), count(split(name, ""))]) if count(name) > 200

deny contains "ends in a space or a dot" if {
	last := substring(name, count(name) - 1, 1)
	last in {" ", ".", "\u00a0"}
}

deny contains "ÜBER alles" if lower(name) == "übermut/straße.txt"

# event: {"tool_name": "MultiEdit", "tool_input": {"file_path": "a", "edits": [{"old_string": "a", "new_string": "a"}, {"old_string": "", "new_string": "b"}]}}
# event: {"tool_name": "MultiEdit", "tool_input": {"file_path": "a", "edits": [{"old_string": "a", "new_string": "b", "replace_all": true}, {"old_string": "a", "new_string": "c", "replace_all": true}]}}
# event: {"tool_name": "MultiEdit", "tool_input": {"file_path": "a", "edits": []}}
# event: {"tool_name": "MultiEdit", "tool_input": {"edits": [{"old_string": "TODO TODO", "new_string": "TODO"}]}}
package guard.edits

edits := object.get(input.tool_input, "edits", [])

is_edit if input.tool_name == "MultiEdit"

deny contains "no edits" if {
	is_edit
	count(edits) == 0
}

deny contains sprintf("edit %d changes nothing", [i]) if {
	some i, e in edits
	e.old_string == e.new_string
}

deny contains sprintf("edit %d replaces nothing", [i + 1]) if {
	some i
	edits[i].old_string == ""
}

ask contains "all edits replace everything" if {
	is_edit
	count(edits) > 0
	every e in edits {
		e.replace_all == true
	}
}

deny contains "the same text is replaced twice" if {
	olds := [e.old_string | some e in edits]
	count(olds) != count({o | some o in olds})
}

warn contains sprintf("removes %d TODOs", [n]) if {
	n := sum([d |
		some e in edits
		d := strings.count(e.old_string, "TODO") - strings.count(e.new_string, "TODO")
	])
	n > 0
}

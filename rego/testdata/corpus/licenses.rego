# event: {"tool_name": "Write", "tool_input": {"file_path": "a.go", "content": "// SPDX-License-Identifier: AGPL-3.0-only"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": "a.go", "content": "// SPDX-License-Identifier: GPL-3.0"}}
package guard.licenses

import data.tables.licenses

id := trim_space(found[0][1]) if {
	found := regex.find_all_string_submatch_n(`SPDX-License-Identifier:\s*([A-Za-z0-9.+-]+)`, input.tool_input.content, 1)
	count(found) > 0
}

deny contains sprintf("license %s", [id]) if {
	some prefix in licenses.deny
	startswith(id, prefix)
}

ask contains sprintf("license %s needs a look", [id]) if {
	some prefix in licenses.review
	startswith(id, prefix)
}

warn contains "no license header" if {
	endswith(input.tool_input.file_path, ".go")
	input.tool_name == "Write"
	not id
}

deny contains "the license itself" if {
	input.tool_name in {"Write", "Edit"}
	lower(input.tool_input.file_path) in {"license", "license.md", "copying", "notice"}
}

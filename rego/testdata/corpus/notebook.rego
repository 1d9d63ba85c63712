# event: {"tool_name": "NotebookEdit", "tool_input": {"new_source": "import os, sys\nimport socket\n!ls\n"}}
package guard.notebook

is_notebook if input.tool_name == "NotebookEdit"

is_notebook if endswith(input.tool_input.notebook_path, ".ipynb")

source := input.tool_input.new_source

deny contains "a shell magic" if {
	is_notebook
	some line in split(source, "\n")
	regex.match(`^\s*[!%]{1,2}(sh|bash|system|pip)?`, line)
	line != ""
	substring(line, 0, 1) in {"!", "%"}
}

deny contains "deletes a cell" if {
	is_notebook
	input.tool_input.edit_mode == "delete"
}

ask contains "imports of the system" if {
	is_notebook
	imports := {trim_space(m[1]) | some m in regex.find_all_string_submatch_n(`(?m)^import ([a-z, ]+)$`, source, -1)}
	count(imports & {"os", "subprocess", "socket", "ctypes"}) > 0
}

ask contains "a markdown cell with a script" if {
	input.tool_input.cell_type == "markdown"
	contains(lower(source), "<script")
}

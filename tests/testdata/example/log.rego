package system.log

# input is the entry of the log, before anything is masked.
mask contains "/input/tool_input/body" if input.input.tool_name == "WebFetch"

mask contains {"op": "remove", "path": "/answers"} if startswith(input.path, "pre_llm")

drop if {
	input.path == "notify"
	input.result.action == "proceed"
}

# event: {"tool_name": "Write", "tool_input": {"file_path": "web/pnpm-lock.yaml"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": "vendor/a.pb.go"}}
package guard.generated

path := lower(input.tool_input.file_path)

locks := {"package-lock.json", "pnpm-lock.yaml", "yarn.lock", "go.sum", "cargo.lock", "poetry.lock"}

suffixes := [".pb.go", ".gen.ts", "_generated.go", ".min.js"]

name := regex.replace(path, `^.*/`, "")

deny contains sprintf("%s is written by its tool", [name]) if {
	input.tool_name in {"Write", "Edit"}
	name in locks
}

deny contains "generated code" if strings.any_suffix_match(path, suffixes)

deny contains "vendored code" if strings.any_prefix_match(path, {"vendor/", "third_party/", "node_modules/"})

ask contains "build output" if regex.match(`(^|/)(dist|build|target|out)/`, path)

deny contains "says it is generated" if regex.match(`(?m)^// Code generated .* DO NOT EDIT\.$`, input.tool_input.old_string)

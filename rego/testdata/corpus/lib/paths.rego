package lib.paths

# The path that a call is about, whatever the tool calls it.
target := object.get(input.tool_input, "file_path", object.get(input.tool_input, "path", ""))

clean(p) := replace(replace(p, "/./", "/"), "//", "/")

absolute := clean(target) if startswith(target, "/")

absolute := clean(concat("/", [input.cwd, target])) if {
	not startswith(target, "/")
	target != ""
}

inside(root) if startswith(absolute, concat("", [root, "/"]))

inside(root) if absolute == root

climbs if ".." in split(target, "/")

extension(p) := ext if {
	parts := split(base(p), ".")
	count(parts) > 1
	ext := lower(parts[count(parts) - 1])
}

base(p) := name if {
	parts := split(p, "/")
	name := parts[count(parts) - 1]
}

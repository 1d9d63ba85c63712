package hooks.limits

deny contains sprintf("writes %d bytes, the limit is %d", [count(input.content), data.limits.max_bytes]) if {
	count(input.content) > data.limits.max_bytes
}

warn contains "writes a lock file by hand" if endswith(input.path, "package-lock.json")

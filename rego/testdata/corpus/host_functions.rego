# event: {"tool_name": "Write", "cwd": "/repo", "tool_input": {"file_path": "a/b", "url": "https://db.internal/x", "content": "AKIAIOSFODNN7EXAMPLA aws_secret_access_key = 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", "version": "0.9.1"}}
# event: {"tool_name": "Write", "cwd": "/repo", "tool_input": {"file_path": "/repo/a/b"}}
package guard.host_functions

deny contains sprintf("%s is outside", [p]) if {
	p := path.abs(input.tool_input.file_path, input.cwd)
	not path.within(p, input.cwd)
}

deny contains "a dotenv file" if path.glob("**/.env*", input.tool_input.file_path)

ask contains sprintf("a file of type %s", [path.ext(input.tool_input.file_path)]) if path.ext(input.tool_input.file_path) in {".sh", ".ps1", ".exe"}

deny contains sprintf("host %s", [url.host(input.tool_input.url)]) if endswith(url.host(input.tool_input.url), ".internal")

deny contains "a secret" if count(secret.find(input.tool_input.content)) > 0

ask contains "an old version" if semver.satisfies(input.tool_input.version, "<1.0.0")

ask contains sprintf("%s in %s", [path.base(input.tool_input.file_path), path.dir(input.tool_input.file_path)]) if path.rel(input.tool_input.file_path, "/repo") == "a/b"

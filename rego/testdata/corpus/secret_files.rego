# event: {"tool_name": "Read", "tool_input": {"file_path": "/home/x/.aws/credentials"}}
# event: {"tool_name": "Read", "tool_input": {"file_path": "a/b/server.pem"}}
package guard.secret_files

path := input.tool_input.file_path

dotenv if glob.match("**/.env*", ["/"], path)

dotenv if path == ".env"

example if endswith(path, ".example")

example if endswith(path, ".sample")

deny contains "dotenv files are off limits" if {
	dotenv
	not example
}

deny contains "private keys are off limits" if {
	some pattern in ["**/*.pem", "**/*.key", "**/id_rsa", "**/id_ed25519"]
	glob.match(pattern, ["/"], path)
}

deny contains "cloud credentials are off limits" if {
	some dir in [".aws", ".azure", ".gcloud", ".kube"]
	contains(path, sprintf("/%s/", [dir]))
}

deny contains "the ssh directory is off limits" if regex.match(`(^|/)\.ssh/`, path)

ask contains "package manager's token" if {
	base := split(path, "/")
	base[count(base) - 1] in {".npmrc", ".pypirc", ".netrc", ".gem"}
}

ask contains "shell history" if endswith(path, "_history")

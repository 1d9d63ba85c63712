# event: {"tool_name": "Bash", "tool_input": {"command": "terraform apply -auto-approve -var-file=prod.tfvars"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "terraform destroy"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": "infra/sg.tf", "content": "cidr_blocks = [\"0.0.0.0/0\"]\nacl = \"public-read\"\nrequired_version = \">= 1.4.0\""}}
# event: {"tool_name": "Bash", "tool_input": {"command": "terraform apply"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "terraform state rm a.b"}}
package guard.terraform

import data.tables.versions

tf(sub) if regex.match(sprintf(`\b(terraform|tofu)\s+(-chdir=\S+\s+)?%s\b`, [sub]), input.tool_input.command)

deny contains "destroys infrastructure" if tf("destroy")

deny contains "applies without a look" if {
	tf("apply")
	contains(input.tool_input.command, "-auto-approve")
}

ask contains "applies" if {
	tf("apply")
	not contains(input.tool_input.command, "-auto-approve")
}

deny contains "changes the state" if {
	tf("state")
	some sub in ["rm", "mv", "push"]
	contains(input.tool_input.command, sprintf("state %s", [sub]))
}

deny contains "open to the world" if {
	endswith(input.tool_input.file_path, ".tf")
	contains(input.tool_input.content, "0.0.0.0/0")
}

deny contains sprintf("acl %s", [acl]) if {
	endswith(input.tool_input.file_path, ".tf")
	some acl in ["public-read", "public-read-write"]
	contains(input.tool_input.content, sprintf("%q", [acl]))
}

ask contains sprintf("version %s is older than %s", [found, versions.terraform]) if {
	m := regex.find_all_string_submatch_n(`required_version\s*=\s*"[>=~ ]*([0-9.]+)"`, input.tool_input.content, 1)
	found := m[0][1]
	semver.is_valid(found)
	semver.compare(found, versions.terraform) < 0
}

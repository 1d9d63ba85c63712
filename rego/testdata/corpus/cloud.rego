# event: {"tool_name": "Bash", "tool_input": {"command": "aws s3 rb s3://x"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "aws x --profile prod-admin"}}
package guard.cloud

destructive := {
	"aws": ["s3 rb", "s3 rm", "ec2 terminate-instances", "rds delete-db-instance", "iam delete-"],
	"gcloud": ["projects delete", "sql instances delete", "compute instances delete"],
	"az": ["group delete", "vm delete", "storage account delete"],
}

deny contains sprintf("%s %s", [cli, what]) if {
	some cli, list in destructive
	some what in list
	startswith(input.tool_input.command, sprintf("%s %s", [cli, what]))
}

deny contains "an iam policy of everything" if {
	contains(input.tool_input.command, "AdministratorAccess")
}

ask contains "prints credentials" if {
	input.tool_input.command in {
		"aws configure list", "aws sts get-session-token",
		"gcloud auth print-access-token", "az account get-access-token",
	}
}

deny contains "public bucket" if {
	contains(input.tool_input.command, "put-bucket-acl")
	regex.match(`--acl[ =]public`, input.tool_input.command)
}

ask contains sprintf("profile %s", [p]) if {
	p := regex.find_all_string_submatch_n(`--profile[ =]([a-z-]+)`, input.tool_input.command, -1)[_][1]
	p != "sandbox"
}

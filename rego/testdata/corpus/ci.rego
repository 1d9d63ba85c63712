# event: {"tool_name": "Write", "tool_input": {"file_path": ".github/workflows/ci.yml", "content": "on: pull_request_target\npermissions: write-all\njobs:\n  a:\n    runs-on: self-hosted\n    steps:\n      - uses: actions/checkout@main\n"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": ".gitlab-ci.yml", "content": "a: [1"}}
# event: {"tool_name": "Write", "tool_input": {"file_path": ".github/workflows/x.yml", "content": "on:\n  pull_request_target: {types: [opened]}\n"}}
package guard.ci

workflow := yaml.unmarshal(input.tool_input.content) if {
	startswith(input.tool_input.file_path, ".github/workflows/")
	yaml.is_valid(input.tool_input.content)
}

deny contains "a workflow with all permissions" if workflow.permissions == "write-all"

deny contains "pull_request_target" if {
	workflow.on == "pull_request_target"
}

deny contains "pull_request_target among others" if workflow.on.pull_request_target

ask contains sprintf("job %s runs on our own machines", [job]) if {
	some job, spec in workflow.jobs
	"self-hosted" in {spec["runs-on"]} | {r | some r in object.get(spec, "runner_labels", [])}
}

deny contains sprintf("%s is not pinned", [step.uses]) if {
	some job in workflow.jobs
	some step in job.steps
	parts := split(step.uses, "@")
	not regex.match(`^[0-9a-f]{40}$`, parts[1])
}

deny contains "the pipeline is no yaml" if {
	input.tool_input.file_path == ".gitlab-ci.yml"
	not yaml.is_valid(input.tool_input.content)
}

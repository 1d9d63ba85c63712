# event: {"tool_name": "Write", "tool_input": {"file_path": "k8s/x.json", "kind": "Deployment", "spec": {"containers": [{"name": "a", "image": "nginx", "securityContext": {"privileged": true}}, {"name": "b", "image": "evil.io/x:latest"}]}}}
# event: {"tool_name": "Write", "tool_input": {"kind": "Pod", "labels": {"app": "x"}, "spec": {"containers": []}}}
package guard.v0_resources

required = {"app", "team"}

containers[c] {
	c := input.tool_input.spec.containers[_]
}

violation[{"msg": msg, "details": {"missing": missing}}] {
	provided := {l | input.tool_input.labels[l]}
	missing := required - provided
	count(missing) > 0
	input.tool_input.kind
	msg := sprintf("missing labels: %v", [missing])
}

violation[{"msg": msg}] {
	c := containers[_]
	c.securityContext.privileged
	msg := sprintf("%v is privileged", [c.name])
}

violation[{"msg": msg}] {
	c := containers[_]
	satisfied := [good | repo = ["docker.io/", "ghcr.io/"][_]; good = startswith(c.image, repo)]
	not any(satisfied)
	msg := sprintf("image %v of %v is from elsewhere", [c.image, c.name])
}

deny[msg] {
	c := containers[_]
	endswith(c.image, ":latest")
	msg := sprintf("%v is latest", [c.image])
}

deny[msg] {
	count(input.tool_input.spec.containers) == 0
	msg := "no containers"
}

# event: {"tool_name": "Bash", "tool_input": {"command": "docker run --network host alpine:3"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "podman system prune -a"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "docker push x/y:latest"}}
package guard.docker

is_docker if regex.match(`^\s*(docker|podman|nerdctl)\s`, input.tool_input.command)

has(flag) if contains(input.tool_input.command, flag)

deny contains "a privileged container" if {
	is_docker
	has("--privileged")
}

deny contains "the docker socket in a container" if {
	is_docker
	has("/var/run/docker.sock")
}

deny contains "the host's network" if {
	is_docker
	some flag in ["--network host", "--network=host", "--net=host"]
	has(flag)
}

deny contains "mounts the root" if {
	is_docker
	regex.match(`(-v|--volume)[ =]/:`, input.tool_input.command)
}

ask contains "prunes" if {
	is_docker
	has(" prune")
	has("-a")
}

ask contains sprintf("image without a tag: %s", [image]) if {
	is_docker
	has(" run ")
	words := split(input.tool_input.command, " ")
	image := words[count(words) - 1]
	not contains(image, ":")
	not contains(image, "@sha256")
}

deny contains "pushes latest" if {
	is_docker
	has(" push ")
	endswith(input.tool_input.command, ":latest")
}

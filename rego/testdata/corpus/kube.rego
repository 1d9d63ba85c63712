# event: {"tool_name": "Bash", "tool_input": {"command": "kubectl delete pod x -n prod"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "kubectl drain node1"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "kubectl delete namespace x --all"}}
# event: {"tool_name": "Bash", "tool_input": {"command": "kubectl get secret x -o yaml"}}
package guard.kube

import rego.v1

default namespace := "default"

namespace := ns if {
	matches := regex.find_all_string_submatch_n(`(?:-n|--namespace)[ =](\S+)`, input.tool_input.command, 1)
	ns := matches[0][1]
}

verb := v if {
	words := split(input.tool_input.command, " ")
	words[0] in {"kubectl", "k", "oc"}
	v := [w | some i, w in words; i > 0; not startswith(w, "-")][0]
}

production if namespace in {"prod", "production", "kube-system"}

production if contains(input.tool_input.command, "--context=prod")

deny contains msg if {
	production
	verb in {"delete", "apply", "edit", "patch", "scale", "exec"}
	msg := sprintf("kubectl %s in %s", [verb, namespace])
}

ask contains msg if {
	not production
	verb in {"delete", "drain", "cordon"}
	msg := sprintf("kubectl %s in %s", [verb, namespace])
}

deny contains "deletes a namespace" if {
	verb == "delete"
	regex.match(`delete\s+(ns|namespace)s?\b`, input.tool_input.command)
}

deny contains "all of them" if {
	verb == "delete"
	some flag in {"--all", "-A", "--all-namespaces"}
	flag in split(input.tool_input.command, " ")
}

ask contains "reads secrets" if {
	verb == "get"
	contains(input.tool_input.command, "secret")
}

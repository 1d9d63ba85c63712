# event: {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "sk-abcdefghijklmnopqrstuv"}, {"role": "system", "content": "x"}], "model": "gpt-x", "request_config": {"temperature": 2.5, "max_tokens": 100000}}
# event: {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "a"}, {"role": "user", "content": "a"}, {"role": "tool", "content": ["x", {"type": "image"}]}], "model": "small-1", "request_config": {"temperature": 0.2}}
package guard.messages

deny contains sprintf("message %d holds a key", [i]) if {
	some i, m in input.messages
	regex.match(`sk-[A-Za-z0-9]{20,}`, m.content)
}

deny contains "a system message in the middle" if {
	some i, m in input.messages
	i > 0
	m.role == "system"
}

ask contains sprintf("the same message %d times", [n]) if {
	contents := {m.content | some m in input.messages; m.role == "user"}
	some c in contents
	n := count([1 | some m in input.messages; m.content == c])
	n >= 3
}

deny contains sprintf("temperature %v", [t]) if {
	t := input.request_config.temperature
	not t <= 1.0
}

deny contains sprintf("model %s", [input.model]) if {
	every prefix in ["small-", "medium-", "large-"] {
		not startswith(input.model, prefix)
	}
}

ask contains "max_tokens" if input.request_config.max_tokens > 32000

ask contains "images" if {
	some m in input.messages
	some part in m.content
	part.type == "image"
}

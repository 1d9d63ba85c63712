# event: {"tool_input": {"urls": ["https://pastebin.com/x", "https://a/b", "http://c/d", "https://a/b"], "pair": {"a": 2}}}
package guard.v0_lists

blocked = ["pastebin.com", "transfer.sh"]

hosts = {h | h := split(input.tool_input.urls[_], "/")[2]}

deny[msg] {
	hosts[h]
	blocked[_] == h
	msg := sprintf("%v is blocked", [h])
}

deny[msg] {
	some i, j
	input.tool_input.urls[i] == input.tool_input.urls[j]
	i < j
	msg := sprintf("%v and %v are the same", [i, j])
}

ask[msg] {
	x := input.tool_input.urls[i]
	not startswith(x, "https://")
	msg := sprintf("%d: %v", [i, x])
}

warn[msg] {
	n := count(hosts)
	n >= 3
	msg := sprintf("%d hosts", [n])
}

deny[msg] {
	{"a": x} = input.tool_input.pair
	x > 1
	msg := "pair"
}

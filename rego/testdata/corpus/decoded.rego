# event: {"tool_name": "Bash", "tool_input": {"command": "echo cm0gLXJmIC8= | base64 -d | sh"}}
# event: {"tool_name": "WebFetch", "tool_input": {"url": "https://x/%2e%2e%2fetc%2fpasswd?token=abc&next=http://evil"}}
# event: {"tool_name": "WebFetch", "tool_input": {"query": "a=1&admin=true"}}
package guard.decoded

words := split(input.tool_input.command, " ")

decoded contains text if {
	some w in words
	count(w) % 4 == 0
	regex.match(`^[A-Za-z0-9+/]{8,}={0,2}$`, w)
	base64.is_valid(w)
	text := base64.decode(w)
}

deny contains sprintf("hides %q", [text]) if {
	some text in decoded
	some bad in ["rm -rf", "curl ", "/bin/sh"]
	contains(text, bad)
}

deny contains "an encoded path climbs" if contains(urlquery.decode(input.tool_input.url), "../")

ask contains "a token in the address" if regex.match(`[?&](token|key|secret)=`, input.tool_input.url)

deny contains "asks to be admin" if {
	pairs := urlquery.decode_object(input.tool_input.query)
	"true" in pairs.admin
}

# event: {"tool_name": "WebFetch", "tool_input": {"url": "http://169.254.169.254/latest/meta-data"}}
# event: {"tool_name": "WebFetch", "tool_input": {"url": "https://sub.pastebin.com/x"}}
# event: {"tool_name": "WebFetch", "tool_input": {"url": "http://10.1.2.3:8080/admin"}}
# event: {"tool_name": "WebFetch", "tool_input": {"url": "https://user@unknown.example/"}}
package guard.fetch

import data.lib.net
import data.tables.domains

is_fetch if input.tool_name in {"WebFetch", "web_fetch", "fetch"}

host := net.host(input.tool_input.url)

known if {
	some d in domains.allowed
	net.under(host, d)
}

deny contains sprintf("%v is blocked", [host]) if {
	is_fetch
	some d in domains.blocked
	net.under(host, d)
}

deny contains "the cloud's metadata service" if {
	is_fetch
	net.is_ip(host)
	some block in data.tables.networks.metadata
	contains(block, "/32")
	trim_suffix(block, "/32") == host
}

ask contains sprintf("an internal address: %s", [host]) if {
	is_fetch
	net.internal(host)
}

ask contains sprintf("%s is not on the list", [host]) if {
	is_fetch
	not known
	not net.is_ip(host)
}

deny contains "plain http" if {
	is_fetch
	net.scheme(input.tool_input.url) == "http"
}

deny contains "credentials in the address" if {
	is_fetch
	regex.match(`^[a-z]+://[^/]*@`, input.tool_input.url)
}

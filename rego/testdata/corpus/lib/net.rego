package lib.net

host(url) := lower(found[0][1]) if {
	found := regex.find_all_string_submatch_n(`^[a-z]+://(?:[^@/]*@)?([^/:?#]+)`, url, 1)
	count(found) == 1
}

scheme(url) := lower(split(url, "://")[0]) if contains(url, "://")

under(h, domain) if h == domain

under(h, domain) if endswith(h, concat("", [".", domain]))

is_ip(h) if regex.match(`^[0-9]{1,3}(\.[0-9]{1,3}){3}$`, h)

internal(h) if {
	is_ip(h)
	some block in data.tables.networks.internal
	net.cidr_contains(block, h)
}

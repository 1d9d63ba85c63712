package losses

import (
	"net/url"
	"strings"
)

// Host reads an address as net/url does. An address with a backslash has
// none: browsers and clients disagree about where its host ends.
func Host(address string) (string, bool) {
	if strings.Contains(address, `\`) {
		return "", false
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return "", false
	}
	h := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return h, h != ""
}

// AddressHost is the host of an address that may lack its scheme.
func AddressHost(address string) string {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if h, ok := Host(address); ok {
		return h
	}
	u, err := url.Parse(strings.Map(func(r rune) rune {
		if r <= ' ' || r == '$' || r == '"' {
			return -1
		}
		return r
	}, address))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// RemoteHost is the host of an address, or of user@host:path.
func RemoteHost(t string) string {
	if strings.Contains(t, "://") {
		return AddressHost(t)
	}
	return HostOf(t)
}

// HostOf is the host in user@host:path.
func HostOf(target string) string {
	_, after, ok := strings.Cut(target, "@")
	if ok {
		target = after
	}
	host, _, _ := strings.Cut(target, ":")
	return host
}

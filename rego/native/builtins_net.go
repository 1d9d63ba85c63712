package native

import (
	"net/netip"
	"strings"
)

var _ = register(1, map[string]Builtin{"net.cidr_is_valid": validCIDR})

var _ = register(2, map[string]Builtin{
	"net.cidr_contains":   onTexts(containsCIDR),
	"net.cidr_overlap":    onTexts(containsCIDR),
	"net.cidr_intersects": onTexts(intersectCIDRs),
})

// validCIDR leaves what one of Go's two readers takes and the other may not to
// OPA.
func validCIDR(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[0].(string)
	if !ok || !strings.Contains(s, "/") {
		return false, true, nil
	}
	if _, err := netip.ParsePrefix(s); err != nil {
		return bail()
	}
	return true, true, nil
}

// prefixOf reads a network. IPv4 in IPv6 is read in more than one way, and
// left to OPA.
func prefixOf(s string) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(s)
	return p.Masked(), err == nil && !p.Addr().Is4In6()
}

func containsCIDR(network, other string) (Value, bool, error) {
	a, ok := prefixOf(network)
	if !ok {
		return bail()
	}
	if addr, err := netip.ParseAddr(other); err == nil {
		if addr.Is4In6() || addr.Zone() != "" {
			return bail()
		}
		return a.Contains(addr), true, nil
	}
	b, ok := prefixOf(other)
	if !ok {
		return bail()
	}
	return a.Bits() <= b.Bits() && a.Contains(b.Addr()), true, nil
}

func intersectCIDRs(x, y string) (Value, bool, error) {
	a, ok1 := prefixOf(x)
	b, ok2 := prefixOf(y)
	if !ok1 || !ok2 {
		return bail()
	}
	return a.Overlaps(b), true, nil
}

package native

import "strings"

var netBuiltins = []own{
	{"net.cidr_is_valid", 1, func() Builtin { return validCIDR }},
	{"net.cidr_contains", 2, func() Builtin { return onTexts(containsCIDR) }},
	{"net.cidr_overlap", 2, func() Builtin { return onTexts(containsCIDR) }},
	{"net.cidr_intersects", 2, func() Builtin { return onTexts(intersectCIDRs) }},
}

// address is an IP address: an IPv4 one has four bytes, an IPv6 one sixteen.
// (net/netip makes tables when a process starts, which the gate would pay for
// at each event.)
type address struct {
	bytes [16]byte
	size  int
}

// network is a CIDR's address, as it is written, and how many bits of it count.
type network struct {
	address
	bits int
}

// validCIDR leaves what one of Go's two readers takes and the other may not to
// OPA.
func validCIDR(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[0].(string)
	if !ok || !strings.Contains(s, "/") {
		return false, true, nil
	}
	if _, ok := parseCIDR(s); !ok {
		return bail()
	}
	return true, true, nil
}

func containsCIDR(outer, other string) (Value, bool, error) {
	a, ok := parseCIDR(outer)
	if !ok || a.mapped() {
		return bail()
	}
	b, ok := network{}, false
	if strings.Contains(other, "/") {
		b, ok = parseCIDR(other)
	} else if b.address, ok = parseAddress(other); ok {
		b.bits = 8 * b.size
	}
	if !ok || b.mapped() {
		return bail()
	}
	return a.bits <= b.bits && a.agrees(b, a.bits), true, nil
}

func intersectCIDRs(x, y string) (Value, bool, error) {
	a, ok1 := parseCIDR(x)
	b, ok2 := parseCIDR(y)
	if !ok1 || !ok2 || a.mapped() || b.mapped() {
		return bail()
	}
	return a.agrees(b, min(a.bits, b.bits)), true, nil
}

// mapped reports whether this is IPv4 in IPv6, which is read in more than one
// way and left to OPA.
func (a address) mapped() bool {
	return a.size == 16 && a.bytes[10] == 0xff && a.bytes[11] == 0xff && [10]byte(a.bytes[:10]) == [10]byte{}
}

// agrees reports whether two networks are of one kind and their first bits are
// the same.
func (n network) agrees(o network, bits int) bool {
	if n.size != o.size {
		return false
	}
	for i := 0; bits > 0; i, bits = i+1, bits-8 {
		if mask := byte(0xff) << (8 - min(bits, 8)); (n.bytes[i]^o.bytes[i])&mask != 0 {
			return false
		}
	}
	return true
}

// parseCIDR reads an address, a slash and how many bits count. Zones, and
// leading zeros, are no reading of it.
func parseCIDR(s string) (n network, ok bool) {
	text, bits, found := strings.Cut(s, "/")
	if n.address, ok = parseAddress(text); !ok || !found {
		return n, false
	}
	n.bits, ok = smallDecimal(bits, 8*n.size)
	return n, ok
}

// parseAddress reads an address as RFC 4291 §2.2 writes them; IPv4 at the end
// of IPv6 is not read.
func parseAddress(s string) (a address, ok bool) {
	if strings.Contains(s, ":") {
		return parseIPv6(s)
	}
	a.size = 4
	for i := range 4 {
		part, rest, more := strings.Cut(s, ".")
		n, fits := smallDecimal(part, 255)
		if !fits || more != (i < 3) {
			return a, false
		}
		a.bytes[i] = byte(n)
		s = rest
	}
	return a, true
}

func smallDecimal(s string, most int) (n int, ok bool) {
	if s == "" || len(s) > 3 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n <= most
}

func parseIPv6(s string) (a address, ok bool) {
	a.size = 16
	at, gap := 0, -1
	if rest, double := strings.CutPrefix(s, "::"); double {
		s, gap = rest, 0
	}
	for s != "" {
		group, rest, more := strings.Cut(s, ":")
		if group == "" || len(group) > 4 || at == 16 || more && rest == "" {
			return a, false
		}
		n := 0
		for i := range len(group) {
			d, hex := hexDigit(group[i])
			if !hex {
				return a, false
			}
			n = n<<4 | int(d)
		}
		a.bytes[at], a.bytes[at+1] = byte(n>>8), byte(n)
		at += 2
		if s = rest; more && s[0] == ':' {
			if gap >= 0 {
				return a, false
			}
			s, gap = s[1:], at
		}
	}
	if gap < 0 || at == 16 {
		return a, gap < 0 && at == 16
	}
	// The gap is as many zeros as are missing.
	moved := a.bytes
	clear(a.bytes[gap:])
	copy(a.bytes[16-(at-gap):], moved[gap:at])
	return a, true
}

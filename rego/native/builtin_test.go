package native

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOwnBuiltins: each is there once, and found by its name.
func TestOwnBuiltins(t *testing.T) {
	names := Names()
	assert.Len(t, names, 128)
	assert.Equal(t, slices.Compact(slices.Clone(names)), names)
	for _, name := range names {
		own := ownBuiltin(name)
		require.NotNil(t, own, name)
		assert.Equal(t, name, own.name)
		assert.NotNil(t, own.call(), name)
		assert.Positive(t, own.arity, name)
	}
	assert.Nil(t, ownBuiltin("http.send").call())
	for _, name := range []string{"", "http.send", "count"} {
		assert.Nil(t, testerOf(name), name)
	}
}

// checkCIDR compares what is read of a network with net/netip, which reads
// more: zones and IPv4 at the end of IPv6.
func checkCIDR(t *testing.T, s string) bool {
	t.Helper()
	n, ok := parseCIDR(s)
	want, err := netip.ParsePrefix(s)
	if !ok {
		require.True(t, err != nil || strings.Contains(s, ":") && strings.Contains(s, "."), "%q is refused", s)
		return false
	}
	require.NoError(t, err, "%q is read", s)
	require.Equal(t, want.Bits(), n.bits, s)
	require.Equal(t, want.Addr().AsSlice(), n.bytes[:n.size], s)
	require.Equal(t, want.Addr().Is4In6(), n.mapped(), s)
	return true
}

// TestCIDR: networks are read, and compared, as net/netip does.
func TestCIDR(t *testing.T) {
	for s, want := range map[string]bool{
		"10.0.0.0/8": true, "0.0.0.0/0": true, "255.255.255.255/32": true, "1.2.3.4/33": false, "1.2.3/8": false, "1.2.3.4.5/8": false, "01.2.3.4/8": false, "1.2.3.4/08": false,
		"256.1.1.1/8": false, "1.2.3.4/": false, "1.2.3.4": false, "/8": false, "1..2.3/8": false, "1.2.3.4/-1": false, "1.2.3.4/+8": false, "a.b.c.d/8": false, "1.2.3.4./8": false,
		"::/0": true, "::1/128": true, "1::/16": true, "2001:DB8::a:b/64": true, "1:2:3:4:5:6:7:8/128": true, "1:2:3:4:5:6:7::/112": true, "::2:3:4:5:6:7:8/128": true, "::ffff:102:304/96": true,
		"1:2:3:4:5:6:7:8:9/64": false, "1:2:3:4:5:6:7/64": false, "1::2::3/64": false, "1:2:3:4:5:6:7:8::/64": false, "::1:2:3:4:5:6:7:8/64": false, ":1::/64": false, "1:/64": false, "1::2:/64": false,
		":::/0": false, ":/0": false, "12345::/64": false, "g::/64": false, "fe80::1%eth0/64": false, "::/129": false, "::1.2.3.4/96": false, "1:::2/64": false,
	} {
		assert.Equal(t, want, checkCIDR(t, s), s)
	}
	g := rand.New(rand.NewPCG(5, 6))
	parts := strings.Split("1 0 ff 2001 : : :: : . 255 /8 /64 / 16 db8", " ")
	var known []string
	for range 50000 {
		var s strings.Builder
		for range 1 + g.IntN(12) {
			s.WriteString(parts[g.IntN(len(parts))])
		}
		if g.IntN(2) == 0 {
			s.WriteString("/" + Text(g.IntN(40)))
		}
		if checkCIDR(t, s.String()) {
			known = append(known, s.String())
		}
	}
	require.Greater(t, len(known), 300)
	known = append(known, "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "11.0.0.0/8", "0.0.0.0/0", "10.1.2.0/23")
	meet := 0
	for range 20000 {
		x, y := known[len(known)-1-g.IntN(min(len(known), 60))], known[len(known)-1-g.IntN(min(len(known), 60))]
		a, b := netip.MustParsePrefix(x), netip.MustParsePrefix(y)
		overlap, _, err := intersectCIDRs(x, y)
		contains, _, err2 := containsCIDR(x, y)
		if a.Addr().Is4In6() || b.Addr().Is4In6() {
			require.Error(t, err)
			require.Error(t, err2)
			continue
		}
		require.Equal(t, a.Overlaps(b), overlap, "%s and %s", x, y)
		require.Equal(t, a.Bits() <= b.Bits() && a.Masked().Contains(b.Masked().Addr()), contains, "%s and %s", x, y)
		if a.Overlaps(b) {
			meet++
		}
	}
	assert.Greater(t, meet, 500)
}

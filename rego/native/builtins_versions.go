package native

import (
	"strconv"
	"strings"
)

var versionsBuiltins = []own{
	{"semver.is_valid", 1, func() Builtin { return validVersion }},
	{"semver.compare", 2, func() Builtin { return onTexts(compareVersions) }},
}

func validVersion(_ *Call, args []Value) (Value, bool, error) {
	s, ok := args[0].(string)
	if ok {
		_, ok = parseVersion(s)
	}
	return ok, true, nil
}

func compareVersions(a, b string) (Value, bool, error) {
	x, ok1 := parseVersion(a)
	y, ok2 := parseVersion(b)
	if !ok1 || !ok2 {
		return bail()
	}
	for i := range x.parts {
		if c := order(x.parts[i], y.parts[i]); c != 0 {
			return c, true, nil
		}
	}
	c, ok := comparePreReleases(x.pre, y.pre)
	if !ok {
		return bail()
	}
	return c, true, nil
}

// semver is a semantic version; its metadata say nothing.
type semver struct {
	parts [3]int64
	pre   string
}

func parseVersion(s string) (v semver, ok bool) {
	s = strings.TrimPrefix(s, "v")
	s, meta, found := strings.Cut(s, "+")
	if found && !identifiers(meta) {
		return v, false
	}
	s, v.pre, found = strings.Cut(s, "-")
	if found && (!identifiers(v.pre) || zeroLed(v.pre)) {
		return v, false
	}
	parts := strings.Split(s, ".")
	if len(parts) != len(v.parts) {
		return v, false
	}
	for i, part := range parts {
		if part == "" || digitsEnd(part, 0) != len(part) || len(part) > 1 && part[0] == '0' {
			return v, false
		}
		var err error
		if v.parts[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return v, false
		}
	}
	return v, true
}

// identifiers reports whether s is identifiers between dots.
func identifiers(s string) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" {
			return false
		}
		for i := range len(id) {
			if c := id[i]; c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

// zeroLed reports whether a numeric identifier begins with a zero.
func zeroLed(s string) bool {
	for id := range strings.SplitSeq(s, ".") {
		if len(id) > 1 && id[0] == '0' && digitsEnd(id, 0) == len(id) {
			return true
		}
	}
	return false
}

// comparePreReleases leaves numbers beyond int64 to OPA.
func comparePreReleases(a, b string) (int, bool) {
	switch {
	case a == b:
		return 0, true
	case a == "":
		return 1, true
	case b == "":
		return -1, true
	}
	for {
		x, restA := cut1(a)
		y, restB := cut1(b)
		if x != y {
			return compareIdentifiers(x, y)
		}
		switch {
		case restA != "" && restB == "":
			return 1, true
		case restA == "" && restB != "":
			return -1, true
		}
		a, b = restA, restB
	}
}

func compareIdentifiers(x, y string) (int, bool) {
	m, err1 := strconv.ParseUint(x, 10, 63)
	n, err2 := strconv.ParseUint(y, 10, 63)
	numeric1, numeric2 := digitsEnd(x, 0) == len(x), digitsEnd(y, 0) == len(y)
	switch {
	case numeric1 && err1 != nil || numeric2 && err2 != nil:
		return 0, false
	case numeric1 && numeric2:
		return order(int64(m), int64(n)), true
	case numeric1:
		return -1, true
	case numeric2:
		return 1, true
	}
	return strings.Compare(x, y), true
}

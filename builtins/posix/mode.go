package posix

import (
	"slices"
	"strings"
)

func octalMode(mode string) (string, bool) {
	if mode == "" || strings.Trim(mode, "01234567") != "" {
		return "", false
	}
	return strings.Repeat("0", max(4-len(mode), 0)) + mode, true
}

// SetsID reports whether a mode gives the rights of the owner.
func SetsID(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return octal[len(octal)-4] >= '4'
	}
	return slices.ContainsFunc(strings.Split(mode, ","), func(part string) bool {
		// A folder's group is given to what is made in it: g+s alone gives no rights.
		i := strings.IndexAny(part, "+=")
		return i >= 0 && strings.Contains(part[i:], "s") && strings.Trim(part[:i], "ugoa") == "" && part[:i] != "g"
	})
}

// OpensToAll reports whether a mode lets everybody write.
func OpensToAll(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return strings.IndexByte("2367", octal[len(octal)-1]) >= 0
	}
	return slices.ContainsFunc(strings.Split(mode, ","), func(part string) bool {
		i := strings.IndexAny(part, "+=")
		return i >= 0 && strings.Contains(part[i:], "w") && strings.ContainsAny(part[:i], "oa")
	})
}

// LocksAll reports whether a mode keeps the owner out.
func LocksAll(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return octal[len(octal)-3] < '4'
	}
	return strings.Contains(" a= u= a-rwx u-rwx -rwx a-r u-r -x a-x u-x ", " "+mode+" ")
}

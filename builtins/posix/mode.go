package posix

import "strings"

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
	for part := range strings.SplitSeq(mode, ",") {
		// A folder's group is given to what is made in it: g+s alone gives no rights.
		if i := strings.IndexAny(part, "+="); i >= 0 && strings.Contains(part[i:], "s") && strings.Trim(part[:i], "ugoa") == "" && part[:i] != "g" {
			return true
		}
	}
	return false
}

// OpensToAll reports whether a mode lets everybody write.
func OpensToAll(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return strings.IndexByte("2367", octal[len(octal)-1]) >= 0
	}
	for part := range strings.SplitSeq(mode, ",") {
		i := strings.IndexAny(part, "+=")
		if i < 0 || !strings.Contains(part[i:], "w") {
			continue
		}
		if who := part[:i]; strings.ContainsAny(who, "oa") {
			return true
		}
	}
	return false
}

// LocksAll reports whether a mode keeps the owner out.
func LocksAll(mode string) bool {
	if octal, ok := octalMode(mode); ok {
		return octal[len(octal)-3] < '4'
	}
	return mode == "a=" || mode == "u=" || mode == "a-rwx" || mode == "u-rwx" || mode == "-rwx" || mode == "a-r" || mode == "u-r" || mode == "-x" || mode == "a-x" || mode == "u-x"
}

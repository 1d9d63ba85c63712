package winshell

import (
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/spell"
)

// Drive reports whether a path begins with a drive or a hive of the registry,
// from which it is absolute: C:/x, HKLM:/Software.
func Drive(p string) bool {
	name, _, ok := spell.Cut(p, ":")
	return ok && (len(name) == 1 && name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z' || hive(name))
}

func hive(name string) bool {
	return hives()[strings.ToLower(name)]
}

var hives = losses.Words("hklm hkcu hkcr hku cert registry")

// OnDrive is a path of Windows without its drive, in lower case; any other path
// as it is, "" for one in the registry.
func OnDrive(p string) string {
	name, rest, ok := spell.Cut(p, ":")
	switch {
	case !ok || !Drive(p):
		return p
	case hive(name):
		return ""
	}
	return "/" + strings.Trim(strings.ToLower(rest), "/")
}

// Place is where a path of Windows lies, by the names that package shell gives
// to places. whole is its folder without its drive, below says that only some of
// what is in there is meant.
func Place(p, whole string, below bool) string {
	if name, key, _ := spell.Cut(strings.ToLower(p), ":"); hive(name) {
		if key = strings.Trim(key, "/"); name == "hkcu" && key != "" && key != "software" && key != "*" {
			return "user"
		}
		return "system"
	}
	first, inner, _ := spell.Cut(strings.TrimPrefix(whole, "/"), "/")
	_, own, deep := spell.Cut(inner, "/")
	switch {
	case whole == "/":
		return "root"
	case first == "users" && !deep:
		return "home"
	case first == "users" && strings.HasPrefix(own, "appdata/local/temp/"):
		return "temp"
	case first == "users" && strings.HasPrefix(own, "appdata/local/") && strings.Contains(own, "cache"):
		return "cache"
	case first == "users":
		return "user"
	case first == "inetpub":
		return "system"
	case (first == "temp" || first == "tmp") && inner == "" && !below:
		return "temp_root"
	case first == "temp" || first == "tmp":
		return "temp"
	case strings.HasPrefix(first, "program") || first == "windows" || first == "recovery" || first == "boot" || first == "system volume information":
		return "system"
	}
	return "other"
}

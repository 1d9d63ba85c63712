package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/winshell"
	"github.com/hookc/hookc/internal/lists"
)

// Zone is where a path lies, seen from the project and its user.
type Zone string

// The places, from the one whose loss is worst.
const (
	// ZoneRoot is / and everything directly in it at once.
	ZoneRoot Zone = "root"
	// ZoneSystem holds the machine's own files: /etc, /usr, /var, /home itself …
	ZoneSystem Zone = "system"
	// ZoneDevice is a device under /dev that holds data.
	ZoneDevice Zone = "device"
	// ZoneHome is the user's home as a whole, or a directory above it.
	ZoneHome Zone = "home"
	// ZoneUser is below the home, and outside of the project.
	ZoneUser Zone = "user"
	// ZoneCache is below the home, and made again when it is missed.
	ZoneCache Zone = "cache"
	// ZoneAbove is a directory above the project.
	ZoneAbove Zone = "above_project"
	// ZoneProjectRoot is the project as a whole.
	ZoneProjectRoot Zone = "project_root"
	// ZoneGit is a .git directory, or inside one.
	ZoneGit Zone = "git"
	// ZoneProject is below the project's root.
	ZoneProject Zone = "project"
	// ZoneTempRoot is a directory of temporary files as a whole.
	ZoneTempRoot Zone = "temp_root"
	// ZoneTemp is a named file or directory among the temporary ones.
	ZoneTemp Zone = "temp"
	// ZoneOther is none of these.
	ZoneOther Zone = "other"
	// ZoneUnknown is a path of which nothing is known.
	ZoneUnknown Zone = "unknown"
)

var tempDirs = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"}

// ZoneOf is where an absolute, clean path lies. A glob is where everything it
// can match lies: one whose last part is `*` or `**` means its directory as a
// whole. The second result says what secrets a file of that name holds.
func (at At) ZoneOf(p string) (Zone, string) {
	return at.place(p), losses.Secret(p, at.Home)
}

func (at At) place(p string) Zone {
	if winshell.Drive(p) {
		return at.windowsPlace(p)
	}
	whole, below := losses.WholeOf(p)
	if whole == "" || whole[0] != '/' {
		return ZoneUnknown
	}
	if at.InProject(whole) && losses.InGit(whole) && (!below || losses.InGit(p) && !strings.HasSuffix(p, ".sample")) {
		return ZoneGit
	}
	switch {
	case whole == "/" && !below:
		return ZoneRoot
	case losses.IsUnder("/dev", whole) && !losses.IsUnder("/dev/shm", whole):
		return ZoneDevice
	case at.InProject(whole):
		if whole == at.Root && !below {
			return ZoneProjectRoot
		}
		return ZoneProject
	case whole == at.Home && whole != "" && !below:
		return ZoneHome // also one among the temporary files
	case at.InTemp(whole):
		if !below && (whole == at.Temp || lists.Has(tempDirs, whole)) {
			return ZoneTempRoot
		}
		return ZoneTemp
	case at.Home != "" && losses.IsUnder(whole, at.Home):
		switch whole {
		case at.Home:
			if below {
				return ZoneUser
			}
			return ZoneHome
		case "/home", "/Users":
			if !below {
				return ZoneHome
			}
		}
		return ZoneSystem
	case at.Root != "" && losses.IsUnder(whole, at.Root) && !below:
		return ZoneAbove
	case at.Home != "" && at.Home != "/" && losses.IsUnder(at.Home, whole):
		if losses.UnderAny(losses.CacheDirs, strings.TrimPrefix(whole[len(at.Home):], "/")) {
			return ZoneCache
		}
		return ZoneUser
	case losses.IsUnder("/var/lib/apt/lists", whole) || losses.IsUnder("/var/cache", whole) && whole != "/var/cache":
		return ZoneCache
	case losses.UnderAny(losses.SystemDirs, whole) || below && whole == "/":
		return ZoneSystem
	}
	return ZoneOther
}

// InProject reports whether p is the project or below it. One that is or holds the home, is of
// the machine, or where temporary files go is none: what lies in it is not its alone.
func (at At) InProject(p string) bool {
	return at.Root != "" && at.Root != "/" && !losses.OfMachine(at.Root) && losses.IsUnder(at.Root, p) && (at.Home == "" || !losses.IsUnder(at.Root, at.Home)) && at.Root != at.Temp && !lists.Has(tempDirs, at.Root)
}

// InTemp reports whether a path is a folder of temporary files, or in one.
func (at At) InTemp(p string) bool {
	return losses.UnderAny(tempDirs, p) || at.Temp != "" && at.Temp != "/" && losses.IsUnder(at.Temp, p)
}

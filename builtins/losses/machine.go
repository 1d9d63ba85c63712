package losses

import (
	"path"

	"github.com/hookc/hookc/internal/lists"
)

// machineDirs hold nothing but what belongs to the machine: an agent that works there, or
// a variable that says so, makes none of it a project.
var machineDirs = []string{"/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys",
	"/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/sbin", "/usr/share", "/var/log", "/var/spool"}

// OfMachine reports whether a folder belongs to the machine.
func OfMachine(dir string) bool {
	return lists.Has(SystemDirs, dir) || UnderAny(machineDirs, dir)
}

// Scratch is a folder of temporary files that a variable names, "" where it is none by its
// place, which known has, nor by its name: who wrote the project may have set the variable.
func Scratch(known []string, dir string) string {
	if UnderAny(known, dir) || lists.Has([]string{"tmp", "temp", "Temp", "_temp", ".tmp", "T"}, path.Base(dir)) {
		return dir
	}
	return ""
}

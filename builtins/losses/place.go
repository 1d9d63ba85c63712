package losses

import (
	"slices"
	"strings"
)

// UnderAny reports whether p is one of the folders or lies below it.
//
//go:noinline
func UnderAny(dirs []string, p string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return IsUnder(dir, p) })
}

// IsUnder reports whether p is dir or lies below it. Both are clean.
//
//go:noinline
func IsUnder(dir, p string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// InGit reports whether p is a repository's own folder, such as .git, or inside
// one. A lock that a crashed git left behind is no part of the repository.
func InGit(p string) bool {
	if strings.HasSuffix(p, "lock") {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if IsRepository(part) {
			return true
		}
	}
	return false
}

// IsRepository reports whether a folder or file of that name holds a repository's history.
//
//go:noinline
func IsRepository(base string) bool {
	return in(base, ".git .hg .svn .jj .bzr _darcs .pijul .fslckout _FOSSIL_ .repo")
}

const GlobChars = "*?["

var noDots = strings.NewReplacer("[!.]", "", "[^.]", "")

// WholeOf splits a path at its first part that is a glob. below is true when
// the glob means only some of what is in the directory.
func WholeOf(p string) (dir string, below bool) {
	i := strings.IndexAny(p, GlobChars)
	if i < 0 {
		return p, false
	}
	slash := strings.LastIndexByte(p[:i], '/')
	if slash < 0 {
		return "", true
	}
	dir = p[:slash]
	if dir == "" {
		dir = "/"
	}
	for part := range strings.SplitSeq(p[slash+1:], "/") {
		if strings.Trim(noDots.Replace(part), "*?.!") != "" {
			return dir, true
		}
		if !strings.Contains(part, "*") {
			return dir, true
		}
	}
	return dir, false
}

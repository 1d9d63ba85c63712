package losses

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// FixedPart is the folder before the first part of a path that is a glob.
func FixedPart(glob string) string {
	if i := strings.IndexAny(glob, GlobChars+"{"); i >= 0 {
		return path.Dir(glob[:i] + "x")
	}
	return glob
}

// GlobTouches reports whether a glob matches a path or a folder above it. `**`
// means any number of folders, those with a dot included, as find has it.
func GlobTouches(glob, p string) bool {
	if !strings.Contains(glob, "**") {
		return globReaches(glob, p)
	}
	glob = strings.ReplaceAll(glob, "{tests}", "")
	if !doublestar.ValidatePattern(glob) {
		return true // nobody can say what it matches
	}
	for at := p; ; at = path.Dir(at) {
		if doublestar.MatchUnvalidated(glob, at) {
			return true
		}
		if at == "/" || at == "." || path.Dir(at) == at {
			return false
		}
	}
}

// GlobBelow reports whether a glob can match what lies below a folder.
func GlobBelow(glob, folder string) bool {
	want, have := strings.Split(glob, "/"), strings.Split(strings.TrimRight(folder, "*/"), "/")
	return len(want) > len(have) && !strings.Contains(glob+strings.Join(have, "/"), "**") && GlobsMeet(want[:len(have)], have)
}

// globReaches reports whether a glob matches a path or a folder above it.
func globReaches(glob, p string) bool {
	want, have := strings.Split(glob, "/"), strings.Split(p, "/")
	return len(want) <= len(have) && slices.EqualFunc(want, have[:len(want)], GlobNames)
}

// GlobsMeet reports whether a path that one glob matches can be, hold or lie in
// one that the other matches. Two names that are both globs may meet.
func GlobsMeet(want, have []string) bool {
	for i := range min(len(want), len(have)) {
		w, h := want[i], have[i]
		if w == "**" || h == "**" {
			return true
		}
		globbed := strings.ContainsAny(w, GlobChars)
		switch {
		case globbed && strings.ContainsAny(h, GlobChars+"{"):
		case globbed && !GlobNames(w, h):
			return false
		case !globbed && !doublestar.MatchUnvalidated(h, w):
			return false
		}
	}
	return true
}

// GlobNames reports whether one part of a glob matches a name. As in a shell,
// a dot that begins a name is only matched by a dot.
func GlobNames(glob, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(glob, ".") {
		return false
	}
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

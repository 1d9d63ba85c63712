// Package paths reads paths: what their text says, where the disk has them, and
// which repository they are in.
package paths

import (
	"errors"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hookc/hookc/internal/spell"
)

// ErrUndefined says that a path is not known.
var ErrUndefined = errors.New("undefined")

// Slash is p with slashes: on Windows, backslashes are read as slashes.
//
//go:noinline
func Slash(p string) string {
	if runtime.GOOS == "windows" {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

// Root splits a slash path into what it is rooted at and the rest: "/" or a
// drive for an absolute path, "~name" for a home, "" for a relative path.
func Root(p string) (at, rest string) {
	switch {
	case strings.HasPrefix(p, "/"):
		return "/", p[1:]
	case strings.HasPrefix(p, "~"):
		at, rest, _ = spell.Cut(p, "/")
		return at, rest
	}
	if volume := filepath.VolumeName(filepath.FromSlash(p)); volume != "" {
		return Slash(volume) + "/", strings.TrimPrefix(p[len(volume):], "/")
	}
	return "", p
}

// Clean resolves `.` and `..` in the text. It reports false for a path that
// climbs above a home: what lies there is not in the text.
func Clean(p string) (string, bool) {
	at, rest := Root(Slash(p))
	switch {
	case at == "":
		return path.Clean(rest), true
	case !strings.HasPrefix(at, "~"):
		return at + path.Clean("/" + rest)[1:], true
	}
	rest = path.Clean(rest)
	switch {
	case rest == ".":
		return at, true
	case rest == ".." || strings.HasPrefix(rest, "../"):
		return "", false
	}
	return at + "/" + strings.TrimPrefix(rest, "/"), true
}

// Abs is p without `.` and `..`, from base when p is relative; false when it
// climbs above a home.
func Abs(p, base string) (string, bool) {
	p, base = Slash(p), Slash(base)
	if at, _ := Root(p); at == "" {
		p = base + "/" + p
	}
	return Clean(p)
}

// Within reports whether p is dir or lies below it.
func Within(p, dir string) (bool, error) {
	rel, ok := Rel(p, dir)
	if !ok {
		return false, ErrUndefined
	}
	return below(rel), nil
}

// below reports whether a relative path stays at or below where it starts.
func below(rel string) bool { return rel != ".." && !strings.HasPrefix(rel, "../") }

// Rel is the path that leads from base to p; false when the texts do not say.
func Rel(p, base string) (string, bool) {
	p, okP := Clean(p)
	base, okBase := Clean(base)
	if !okP || !okBase {
		return "", false
	}
	atP, restP := Root(p)
	atBase, restBase := Root(base)
	if (atP == "") != (atBase == "") {
		return "", false
	}
	if atP != atBase {
		// Another drive or home: no relative path leads there, and a home
		// may be anywhere.
		if strings.HasPrefix(atP, "~") || strings.HasPrefix(atBase, "~") {
			return "", false
		}
		return "../" + p, true
	}
	return climb(parts(restBase), parts(restP))
}

//go:noinline
func parts(p string) []string {
	if p == "" || p == "." {
		return nil
	}
	return strings.Split(p, "/")
}

// climb is the relative path from one list of parts to another. It reports
// false when the way leads through a `..` of the start, whose name is unknown.
func climb(from, to []string) (string, bool) {
	i := 0
	for i < len(from) && i < len(to) && from[i] == to[i] {
		i++
	}
	var out []string
	for _, part := range from[i:] {
		if part == ".." {
			return "", false
		}
		out = append(out, "..")
	}
	out = append(out, to[i:]...)
	if len(out) == 0 {
		return ".", true
	}
	return strings.Join(out, "/"), true
}

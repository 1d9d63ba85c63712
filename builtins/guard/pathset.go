package guard

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/paths"
)

// pathSet is a list of files and folders, as a guard's options name them:
// absolute, below the home (`~/x`), below the project (`x/y`), or anywhere
// (`**/x`). What is named takes in everything below it. Letter case does not
// count: on many disks it does not either.
type pathSet []pathEntry

type pathEntry struct {
	text string
	// from is what the rest is relative to: '/' nothing, '~' the home, '.' the
	// project, '*' anything.
	from byte
	// rest is folded to lower case. It has no globs when literal.
	rest    string
	literal bool
	// deep is true where an entry of the project counts in each of its folders: an agent
	// may have been started there.
	deep bool
}

// newPathSet reads the entries, and returns the ones that are no globs.
func newPathSet(texts []string) (set pathSet, bad []string) {
	for _, text := range texts {
		e, ok := newPathEntry(text)
		if !ok {
			bad = append(bad, text)
			continue
		}
		set = append(set, e)
	}
	return set, bad
}

func newPathEntry(text string) (pathEntry, bool) {
	p := strings.ToLower(paths.Slash(text))
	e := pathEntry{text: text, from: '.'}
	switch {
	case strings.HasPrefix(p, "**/"):
		e.from, p = '*', p[3:]
	case p == "~" || strings.HasPrefix(p, "~/"):
		e.from, p = '~', strings.TrimPrefix(p[1:], "/")
	case strings.HasPrefix(p, "/"):
		e.from, p = '/', p[1:]
	}
	if p != "" {
		p = path.Clean(p)
	}
	e.rest, e.literal = p, !strings.ContainsAny(p, losses.GlobChars+"{")
	return e, p != ".." && !strings.HasPrefix(p, "../") && doublestar.ValidatePattern(p)
}

// match returns the entry that holds p, an absolute path without `.` and `..`.
func (s pathSet) match(p string, at *shell.At) (string, bool) {
	if len(s) > 0 {
		p = strings.ToLower(p)
	}
	i := slices.IndexFunc(s, func(e pathEntry) bool { return e.holds(p, at) })
	if i < 0 {
		return "", false
	}
	return s[i].text, true
}

func (e *pathEntry) holds(p string, at *shell.At) bool {
	rel, ok := e.relative(p, at)
	if !ok {
		return false
	}
	switch {
	case e.deep && e.from == '.' && strings.Contains("/"+rel+"/", "/"+e.rest+"/"):
		return true
	case e.from != '*':
		return e.below(rel)
	case e.literal:
		return rel == e.rest || strings.HasPrefix(rel, e.rest+"/") || strings.HasSuffix(rel, "/"+e.rest) || strings.Contains(rel, "/"+e.rest+"/")
	}
	return doublestar.MatchUnvalidated("**/"+e.rest, rel) || doublestar.MatchUnvalidated("**/"+e.rest+"/**", rel)
}

// relative is p from where the entry begins.
func (e *pathEntry) relative(p string, at *shell.At) (string, bool) {
	base := "/"
	switch e.from {
	case '~':
		base = strings.ToLower(at.Home)
	case '.':
		base = strings.ToLower(at.Root)
	}
	if base == "" || !losses.IsUnder(base, p) {
		return "", false
	}
	return strings.TrimPrefix(p[len(base):], "/"), true
}

func (e *pathEntry) below(rel string) bool {
	if e.literal {
		return e.rest == "" || losses.IsUnder(e.rest, rel)
	}
	return doublestar.MatchUnvalidated(e.rest, rel) || doublestar.MatchUnvalidated(e.rest+"/**", rel)
}

// full is where an entry lies, its globs as they are.
func (e *pathEntry) full(at *shell.At) (string, bool) {
	switch {
	case e.from == '/':
		return "/" + e.rest, true
	case e.from == '~' && at.Home != "":
		return path.Join(strings.ToLower(at.Home), e.rest), true
	case e.from == '.' && at.Root != "":
		return path.Join(strings.ToLower(at.Root), e.rest), true
	}
	return "", false
}

// globbed returns an entry that a shell's glob may match: a word such as
// .cl*/settings.json.
func (s pathSet) globbed(by *shell.Effect, at *shell.At) (string, bool) {
	glob, dir := strings.ToLower(by.Target), losses.FixedPart(by.Target)
	if text, ok := s.match(dir, at); ok {
		return text, true // what find begins with is found as well
	}
	if strings.Contains(glob, "**") && strings.Trim(strings.ReplaceAll(path.Base(glob), "{tests}", ""), "*") == "" {
		if text, ok := s.within(dir, true, at); ok {
			return text, true
		}
	}
	dir = strings.ToLower(dir)
	rubbish := by.Kind == shell.EffectDelete && losses.Rubbish(path.Base(glob))
	for i := range s {
		e := &s[i]
		full, ok := e.full(at)
		if ok && e.literal {
			if losses.GlobTouches(glob, full) || strings.HasSuffix(glob, "{some}") && losses.IsUnder(dir, full) && path.Ext(full) == "" && !strings.Contains(full, "/.") {
				return e.text, true
			}
			continue
		}
		if e.from != '*' && strings.Trim(path.Base(e.rest), "*") == "" && !rubbish && (strings.Contains(glob, "**") && (e.reachesBelow(dir, at) || e.holds(dir, at)) || losses.GlobBelow(glob, full)) {
			return e.text, true
		}
		if base := path.Base(glob); strings.Trim(base, "*") != "" && losses.GlobNames(base, path.Base(e.rest)) {
			return e.text, true
		}
	}
	return "", false
}

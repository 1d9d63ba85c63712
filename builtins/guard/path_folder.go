package guard

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolfiles"
	"github.com/hookc/hookc/internal/paths"
)

// A call that takes a folder away, puts another thing in its place or changes
// its mode does so to everything below it. Patterns that begin at a fixed place
// are judged by what they can name, whether or not it exists; a pattern that
// holds anywhere (`**/main.tf`) is judged by what exists.

// folderWrites are the writes after which a folder is another one.
var folderWrites = map[string]bool{"move": true, "link": true, "link-force": true}

// takesFolder reports whether an effect does to all of a folder what it does to
// the folder. What is moved to a folder that is there goes into it.
func takesFolder(e *shell.Effect, at *shell.At) bool {
	switch e.Kind {
	case shell.EffectDelete:
		return true
	case shell.EffectWrite:
		if folderWrites[e.Op] {
			return !losses.IsUnder(e.Target, at.Root) && !losses.IsUnder(e.Target, at.Cwd) && !isFolder(e.Target, e.Op == "link-force")
		}
		return e.Recursive || e.Domain == shell.DomainPermission || e.Op == "copy" && path.Base(e.Target)[0] == '.' && path.Base(e.Target) != ".github" // settings of an agent
	case shell.EffectPrivilege:
		return e.Domain == shell.DomainPermission
	}
	return false
}

// within returns an entry that lies below dir, or that names something there.
// recursive says that dir is surely taken as a folder.
func (s pathSet) within(dir string, recursive bool, at *shell.At) (string, bool) {
	lower := strings.ToLower(dir)
	for i := range s {
		e := &s[i]
		switch {
		case e.from == '*': // holds anywhere
		case e.literal:
			if full, ok := e.full(at); ok && full != lower && losses.IsUnder(lower, full) {
				return e.text, true
			}
		case e.reachesBelow(lower, at):
			return e.text, true
		}
	}
	return s.existsBelow(dir, recursive, at)
}

// reachesBelow reports whether a glob with a fixed beginning can name something
// below dir.
func (e *pathEntry) reachesBelow(dir string, at *shell.At) bool {
	full, ok := e.full(at)
	if !ok {
		return false
	}
	want, have := strings.Split(full, "/"), strings.Split(dir, "/")
	if dir == "/" {
		have = have[:1]
	}
	for i, name := range have {
		if i == len(want) {
			return false
		}
		if want[i] == "**" {
			return true
		}
		if !doublestar.MatchUnvalidated(want[i], name) {
			return false
		}
	}
	return len(want) > len(have)
}

// globTakes returns an entry that names something in a folder which a glob can
// match.
func (s pathSet) globTakes(glob string, at *shell.At) (string, bool) {
	want := strings.Split(strings.ToLower(glob), "/")
	anywhere := false
	for i := range s {
		full, ok := s[i].full(at)
		anywhere = anywhere || s[i].from == '*'
		have := strings.Split(full, "/")
		if base := want[len(want)-1]; ok && strings.Contains(glob, "**") {
			ok = base != "**" && slices.ContainsFunc(have[1:max(1, len(have)-1)], func(h string) bool { return strings.Trim(h, "*") != "" && losses.GlobNames(base, h) })
		} else if ok {
			ok = losses.GlobsMeet(want, have)
		}
		if ok {
			return s[i].text, true
		}
	}
	if !anywhere {
		return "", false
	}
	found, err := filepath.Glob(filepath.FromSlash(strings.ReplaceAll(glob, "**", "*")))
	for i, name := range found {
		if text, ok := s.existsBelow(paths.Slash(name), true, at); ok || err != nil || i > toolfiles.MaxFiles {
			return text, true
		}
	}
	return "", false
}

// maxBelow bounds how many files of a folder are looked at.
const maxBelow = 20_000

// outputs are folders that hold what a build makes.
var outputs = losses.Words("dist build out target coverage bin obj tmp")

//go:noinline
func madeAgain(name string) bool { return disposable()[name] || outputs()[name] }

// existsBelow looks for a file below dir that an entry names which holds
// anywhere. A folder with too many files counts as holding one, and so does a
// folder of a project that is not on this disk.
func (s pathSet) existsBelow(dir string, recursive bool, at *shell.At) (string, bool) {
	i := slices.IndexFunc(s, func(e pathEntry) bool { return e.from == '*' })
	if i < 0 {
		return "", false
	}
	first := s[i].text
	if _, err := os.Lstat(filepath.FromSlash(dir)); err != nil {
		_, rootErr := os.Lstat(filepath.FromSlash(at.Root))
		return first, recursive && at.Root != "" && losses.IsUnder(at.Root, dir) && rootErr != nil && path.Ext(path.Base(dir)[1:]) == "" && !slices.ContainsFunc(strings.Split(dir[len(at.Root):], "/"), madeAgain)
	}
	found, left := "", maxBelow
	err := filepath.WalkDir(filepath.FromSlash(dir), func(name string, _ fs.DirEntry, err error) error {
		if left--; left < 0 {
			found = first
			return fs.SkipAll
		}
		if err != nil {
			return nil // what cannot be listed cannot be deleted by this user either
		}
		p := strings.ToLower(paths.Slash(name))
		for i := range s {
			if s[i].from == '*' && s[i].holds(p, at) {
				found = s[i].text
				return fs.SkipAll
			}
		}
		return nil
	})
	return found, err == nil && found != ""
}

// landings are the further paths that a copy, a move or a link makes, because
// its destination is a folder that exists: mv x/limits.json policies.
func landings(s *shell.Line, e *shell.Effect) []string {
	if e.Kind != shell.EffectWrite || e.Certainty != shell.CertainKnown || e.Command < 0 || e.Command >= len(s.Commands) || e.Op != "copy" && !folderWrites[e.Op] {
		return nil
	}
	if !isFolder(e.Target, false) {
		return nil
	}
	var out []string
	for _, from := range sourcesOf(s, e) {
		out = append(out, path.Join(e.Target, path.Base(from)))
	}
	return out
}

// isFolder reports whether a path is a folder on this disk; with itself, not a
// link to one.
func isFolder(p string, itself bool) bool {
	stat := os.Stat
	if itself {
		stat = os.Lstat
	}
	info, err := stat(filepath.FromSlash(p))
	return err == nil && info.IsDir()
}

// sourcesOf are the files that a command copies, moves or links to the target
// of e.
func sourcesOf(s *shell.Line, e *shell.Effect) []string {
	var out []string
	for i := range s.Effects {
		from := &s.Effects[i]
		if from.Command == e.Command && (from.Kind == shell.EffectRead || from.Kind == shell.EffectDelete) && from.Op == e.Op && from.Certainty != shell.CertainDynamic {
			out = append(out, matchesOf(from)...)
		}
	}
	if strings.HasPrefix(e.Op, "link") {
		out = append(out, operandPaths(&s.Commands[e.Command])...)
	}
	return out
}

// matchesOf is the target of an effect, or what is there of a glob.
func matchesOf(e *shell.Effect) []string {
	if e.Certainty != shell.CertainPattern {
		return []string{e.Target}
	}
	found, err := filepath.Glob(filepath.FromSlash(e.Target))
	if err != nil || len(found) == 0 || len(found) > toolfiles.MaxFiles {
		return []string{losses.FixedPart(e.Target)}
	}
	return found
}

// operandPaths are the words of a command that are no options, as paths.
func operandPaths(c *shell.Command) []string {
	var out []string
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		text := strings.TrimPrefix(w.Text, "-chdir=")
		if w.Dynamic && strings.IndexAny(text, "$`") == 0 || strings.HasPrefix(text, "-") {
			continue
		}
		if p := posix.Absolute(c.Dir, text); p != "" {
			out = append(out, p)
		}
	}
	return out
}

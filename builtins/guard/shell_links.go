package guard

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
)

// A target is judged as it is written and as it is with symbolic links followed; the
// stricter answer counts. What happens to a link between the judgement and the run is
// not seen.

const (
	// maxLinkHops bounds the links on the way to one target, as systems do.
	maxLinkHops = 40
	// maxLooks bounds the names that are looked at on the disk for one call.
	maxLooks = 4096
)

// untoldLink is the target of a link that the line makes and nobody can tell.
const untoldLink = "\x00"

// shellLinks follows the links of one call.
type shellLinks struct {
	// at is where the call runs, real the same with links followed.
	at, real shell.At
	// left is how many names may still be looked at.
	left int
	// made are the links that the line makes before it uses them, by their true places.
	made map[string]string
	// rooted is true where the project was looked for, gone where it is not on this disk, placed
	// where all of real is known.
	rooted, gone, placed bool
}

// root looks where the project truly is.
func (l *shellLinks) root() {
	if !l.rooted {
		w := linkWalk{l: l, last: true}
		l.real.Root, l.rooted, l.gone = w.whole(l.at.Root), true, w.gone
	}
}

// looksAt reports whether an effect is about a file of this machine.
func looksAt(e shell.Effect) bool {
	if e.Host != "" || e.Domain != shell.DomainFile && e.Domain != shell.DomainPermission || e.Op == "use" || len(e.Target) < 2 {
		return false
	}
	return (e.Target[0] == '/' || e.Target[1] == ':') && (e.Kind == shell.EffectDelete || e.Kind == shell.EffectWrite || e.Kind == shell.EffectRead)
}

// linked judges an effect by where its target leads.
func (g *shellGuard) linked(says *guardSays, s *shell.Line, i int, l *shellLinks) {
	e := &s.Effects[i]
	found := *e
	hear := func(a *shellAdvice) {
		if a != nil {
			says.add(g.verdict(a), func() string { return a.reason(s, &found) })
		}
	}
	targets, known := l.targets(s, e)
	if !known {
		hear(g.heard(adviceLink, s, e, l.at))
	}
	for _, p := range targets {
		for _, p := range append([]string{p}, landed(s, e, p)...) {
			found.Target = p
			if e.Certainty != shell.CertainPattern {
				p = shell.Globless.Replace(p)
			}
			found.Place, found.Secret = l.real.ZoneOf(p)
			hear(g.judge(s, &found, l.real))
		}
	}
	l.make(s, i)
}

// targets are where the target of an effect leads if that is elsewhere; false where
// nobody can tell.
func (l *shellLinks) targets(s *shell.Line, e *shell.Effect) ([]string, bool) {
	p := e.Written
	if p == "" {
		p = e.Target
	}
	c := commandOf(s, e)
	w := linkWalk{l: l, globs: e.Certainty == shell.CertainPattern, last: p[len(p)-1] == '/' || strings.HasSuffix(p, "/.") || followsLast(c, e)}
	if e.Kind == shell.EffectRead && !l.rooted && w.walk(p) && len(w.out) == 0 {
		return nil, true // a file of the project, wherever that is
	}
	l.root()
	w.out = nil
	known := w.walk(p)
	if !known && e.Kind == shell.EffectRead && e.Place != shell.ZoneProject && e.Place != shell.ZoneTemp {
		known = true // the system refuses it as well
	}
	if e.Kind != shell.EffectRead && (e.Recursive || w.globs) && followsAll(s, c) {
		known = false
	}
	if len(w.out) > 0 && !l.placed {
		l.placed = true
		l.real.Home, l.real.Temp = l.whole(l.at.Home), losses.Scratch(scratch, l.whole(l.at.Temp))
	}
	out := w.out[:0]
	for _, to := range w.out {
		if to = l.named(e.Target, to); to != e.Target {
			out = append(out, to)
		}
	}
	return out, known
}

// scratch are folders of temporary files whose places nobody but root changes.
var scratch = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"}

// named is a path in a folder of temporary files by the name that the line has for it.
func (l *shellLinks) named(text, to string) string {
	for _, dir := range scratch {
		if at := ""; losses.IsUnder(dir, text) {
			if at = l.whole(dir); at != dir && losses.IsUnder(at, to) {
				return dir + to[len(at):]
			}
		}
	}
	return to
}

// whole is a folder with its links followed.
func (l *shellLinks) whole(dir string) string {
	w := linkWalk{l: l, last: true}
	return w.whole(dir)
}

// keepsLink are what is done to a link and not to what it leads to.
var keepsLink = losses.Words("rm unlink rmdir move delete find-delete archive")

// followsLast reports whether a command follows a link that is the last part of a path.
// What replaces a link leaves what it leads to alone.
func followsLast(c *shell.Command, e *shell.Effect) bool {
	has := func(flags string) bool {
		return slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, flags) })
	}
	switch {
	case e.Kind == shell.EffectDelete:
		return !keepsLink()[e.Op]
	case e.Op == "sed-in-place" || e.Op == "edit-in-place" && shell.WordIn(c.Name, "perl ruby"):
		return has("--follow-symlinks")
	case folderWrites[e.Op]:
		return !has("-n -T --no-dereference --no-target-directory")
	case e.Domain == shell.DomainPermission:
		return !has("-h --no-dereference")
	}
	return true
}

// followsAll reports whether a command follows the links that it meets in a folder.
func followsAll(s *shell.Line, c *shell.Command) bool {
	all := func(c *shell.Command) bool {
		return shell.WordIn(c.Name, "find chmod chown chgrp") && slices.ContainsFunc(c.Argv, func(w shell.Word) bool {
			return w.Is("-L", "-follow", "--dereference") || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && c.Name != "find" && strings.Contains(w.Text, "L")
		})
	}
	if spell.Has(c.Via, "find") {
		return slices.ContainsFunc(s.Commands, func(c shell.Command) bool { return c.Name == "find" && all(&c) })
	}
	return all(c)
}

// landed are the further files that are written because a target leads to a folder.
func landed(s *shell.Line, e *shell.Effect, p string) []string {
	found := *e
	found.Target = p
	return landings(s, &found)
}

// make keeps a link that the line makes, if it is used behind.
func (l *shellLinks) make(s *shell.Line, i int) {
	e := &s.Effects[i]
	c := commandOf(s, e)
	copies := e.Op == "copy" || e.Op == "move"
	if e.Kind != shell.EffectWrite || e.Certainty != shell.CertainKnown || !copies && !strings.HasPrefix(e.Op, "link") ||
		!slices.ContainsFunc(s.Effects[i+1:], func(x shell.Effect) bool { return losses.IsUnder(e.Target, x.Target) }) {
		return
	}
	l.root()
	w := linkWalk{l: l}
	w.walk(e.Target)
	for _, from := range linkSources(s, e, c) {
		at := e.Target
		if len(w.out) == 1 {
			at = w.out[0]
		}
		if isFolder(at, true) {
			at = path.Join(at, path.Base(from))
		}
		if copies && !slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-s -l --symbolic-link --link") }) {
			gone := false
			if to, known := l.read(from, &gone); known && to == "" {
				continue // no link, so a copy of its own
			}
		}
		if l.made == nil {
			l.made = map[string]string{}
		}
		l.made[at] = from
	}
}

// linkSources are what the links of a command lead to, as they are written there.
func linkSources(s *shell.Line, e *shell.Effect, c *shell.Command) []string {
	if c.Name != "ln" {
		if strings.HasPrefix(e.Op, "link") {
			return []string{untoldLink}
		}
		return sourcesOf(s, e)
	}
	var words []shell.Word
	for _, w := range c.Argv[1:] {
		if w.Dynamic || !strings.HasPrefix(w.Text, "-") {
			words = append(words, w)
		}
	}
	into := slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-t --target-directory") })
	if len(words) > 1 && !into {
		words = words[:len(words)-1]
	}
	relative := !slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-s --symbolic") }) ||
		slices.ContainsFunc(c.Flags, func(f string) bool { return shell.WordIn(f, "-r --relative") })
	var out []string
	for _, w := range words {
		switch {
		case w.Dynamic:
			out = append(out, untoldLink)
		case relative && !strings.HasPrefix(w.Text, "/"):
			out = append(out, c.Dir+"/"+w.Text)
		default:
			out = append(out, w.Text)
		}
	}
	return out
}

// linkWalk follows one path from part to part.
type linkWalk struct {
	l *shellLinks
	// globs says that a part may be a pattern, last that a link at the end is followed.
	globs, last bool
	// gone is true behind a part that does not exist.
	gone bool
	out  []string
}

// whole is where a folder leads, or the folder where it has no link.
func (w *linkWalk) whole(dir string) string {
	if at, rest := paths.Root(dir); at == "" || !w.step(at, rest, 0, false) || len(w.out) != 1 {
		return dir
	}
	return w.out[0]
}

// walk follows a path, from the project on where that is known.
func (w *linkWalk) walk(p string) bool {
	root, hops := w.l.at.Root, 0
	if w.l.real.Root != root {
		hops = 1
	}
	if below, ok := strings.CutPrefix(p, root+"/"); ok && root != "" {
		return w.step(w.l.real.Root, below, hops, w.l.gone)
	}
	at, rest := paths.Root(p)
	return w.step(at, rest, 0, false)
}

// step follows rest from done, which has no link. It is false where nobody can tell.
func (w *linkWalk) step(done, rest string, hops int, gone bool) bool {
	for rest != "" {
		part, after, more := strings.Cut(rest, "/")
		next := strings.TrimSuffix(done, "/") + "/" + part
		switch {
		case part == "" || part == ".":
			rest = after
			continue
		case part == "..":
			done, gone, rest = path.Dir(done), false, after
			continue
		case w.globs && strings.ContainsAny(part, losses.GlobChars+"("):
			w.end(strings.TrimSuffix(done, "/")+"/"+rest, hops)
			return strings.Contains(part, "**") || gone || !more && !w.last || w.each(done, part, after, hops)
		}
		target, known := "", true
		if more || w.last {
			target, known = w.l.read(next, &gone)
		}
		switch {
		case !known:
			return false
		case target != "":
			return w.jump(done, target, after, more, hops)
		}
		done, rest = next, after
	}
	w.gone = gone
	w.end(done, hops)
	return true
}

// jump follows a link in done, with more behind it.
func (w *linkWalk) jump(done, target, after string, more bool, hops int) bool {
	if hops++; hops > maxLinkHops {
		return false
	}
	if at, from := paths.Root(target); at != "" && at[0] != '~' {
		done, target = at, from
	}
	if more {
		target += "/" + after
	}
	return w.step(done, target, hops, false)
}

func (w *linkWalk) end(p string, hops int) {
	if hops > 0 {
		w.out = append(w.out, p)
	}
}

// read is what a link leads to, "" for what is none. gone is set where nothing is there.
func (l *shellLinks) read(p string, gone *bool) (string, bool) {
	if target, made := l.made[p]; made {
		*gone = false
		return target, target != untoldLink
	}
	if *gone {
		return "", true
	}
	if l.left--; l.left < 0 {
		return "", false
	}
	name := filepath.FromSlash(p)
	info, err := os.Lstat(name)
	if *gone = errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR); *gone {
		return "", true
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err == nil
	}
	target, err := os.Readlink(name)
	return paths.Slash(target), err == nil
}

// each follows the links that a pattern matches in a folder, and those behind its folders.
func (w *linkWalk) each(dir, glob, after string, hops int) bool {
	matches := func(name string) bool {
		return strings.Contains(glob, "(") || globMatches(strings.ReplaceAll(glob, "[!", "[^"), name)
	}
	for _, p := range spell.Keys(w.l.made) {
		if path.Dir(p) == dir && matches(path.Base(p)) && (w.l.made[p] == untoldLink || !w.jump(dir, w.l.made[p], after, true, hops)) {
			return false
		}
	}
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	defer f.Close()
	for err == nil {
		var list []fs.DirEntry
		list, err = f.ReadDir(256)
		if w.l.left -= len(list); w.l.left < 0 {
			return false
		}
		for _, e := range list {
			if (e.Type()&fs.ModeSymlink != 0 || e.IsDir() && after != "") && matches(e.Name()) && !w.entry(dir, e, after, hops) {
				return false
			}
		}
	}
	return true
}

// entry follows what is in a folder, whatever its name.
func (w *linkWalk) entry(dir string, e fs.DirEntry, after string, hops int) bool {
	gone, next := false, strings.TrimSuffix(dir, "/")+"/"+e.Name()
	if e.IsDir() {
		return w.step(next, after, hops, false)
	}
	target, known := w.l.read(next, &gone)
	return known && (target == "" || w.jump(dir, target, after, true, hops))
}

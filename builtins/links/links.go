// Package links says where a path leads when symbolic links are followed: those of the disk,
// and those that a command line makes before it uses them.
package links

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
)

const (
	// maxHops bounds the links on the way to one path, as systems do.
	maxHops = 40
	// maxPath bounds a path, as systems do.
	maxPath = 8192
	// MaxLooks bounds the names that are looked at on the disk for one call.
	MaxLooks = 4096
	// Untold is what a link leads to of which nobody can tell that.
	Untold = "\x00"
)

// Links follows the links of one call. It is for one goroutine.
type Links struct {
	// At is where the call runs, Real the same with links followed: its Root from the
	// first path on that was followed, the rest from the first one that has a link.
	At, Real shell.At
	// left is how many names may still be looked at, listed the folders whose names were: those
	// count a sixteenth the next time.
	left   int
	listed []string
	// made are the links that the line makes, by their true places.
	made map[string]string
	// reads is true while a path is followed whose file is only read: what only the running
	// shell knows of its links is let be, as it is of its name.
	reads bool
	// rooted is true where the project was looked for, gone where it is not on this disk,
	// placed where all of Real is known.
	rooted, gone, placed bool
}

// New follows links for a call that runs at a place.
func New(at shell.At) Links { return Links{At: at, Real: at, left: MaxLooks} }

// Path is what is to be followed.
type Path struct {
	// Text is the path, clean; Written the same as it was written, "" where that is Text.
	Text, Written string
	// Globs says that its parts may be patterns, Last that a link at its end is followed,
	// Reads that its file is only read.
	Globs, Last, Reads bool
}

// Follow lists where a path leads if that is elsewhere: the longest part of it that exists is
// followed, and the rest is as it is written. It is false where nobody can tell.
func (l *Links) Follow(p Path) ([]string, bool) {
	text := p.Written
	if text == "" {
		text = p.Text
	}
	l.reads = p.Reads
	w := walk{l: l, globs: p.Globs, last: p.Last || text[len(text)-1] == '/' || strings.HasSuffix(text, "/.")}
	if p.Reads && !l.rooted && w.from(text) && len(w.out) == 0 {
		return nil, true // a file of the project, wherever that is
	}
	l.root()
	w.out = nil
	known := w.from(text)
	if strings.Contains(p.Written, "..") { // which some programs take away before they open the file
		known = w.from(p.Text) && known
	}
	if len(w.out) > 0 && !l.placed {
		l.placed = true
		l.Real.Home, l.Real.Temp = l.whole(l.At.Home), losses.Scratch(scratch, l.whole(l.At.Temp))
	}
	out := w.out[:0]
	for _, to := range w.out {
		if to = l.named(p.Text, to); to != p.Text {
			out = append(out, to)
		}
	}
	return out, known
}

// Make keeps a link that the line makes at a path that has no link at its end.
func (l *Links) Make(at, to string) {
	if l.made == nil {
		l.made = map[string]string{}
	}
	l.made[at] = to
}

// Place is where a path lies, a link at its end not followed.
func (l *Links) Place(p string) string {
	l.root()
	w := walk{l: l}
	if w.from(p); len(w.out) == 1 {
		return w.out[0]
	}
	return p
}

// Is reports whether a path is a link, or may be one.
func (l *Links) Is(p string) bool {
	gone := false
	to, known := l.read(p, &gone)
	return !known || to != ""
}

// root looks where the project truly is.
func (l *Links) root() {
	if !l.rooted {
		w := walk{l: l, last: true}
		l.Real.Root, l.rooted, l.gone = w.whole(l.At.Root), true, w.gone
	}
}

// scratch are folders of temporary files whose places nobody but root changes.
var scratch = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"}

// named is a path in a folder of temporary files by the name that the line has for it.
func (l *Links) named(text, to string) string {
	for _, dir := range scratch {
		if losses.IsUnder(dir, text) {
			if at := l.whole(dir); at != dir && losses.IsUnder(at, to) {
				return dir + to[len(at):]
			}
		}
	}
	return to
}

// whole is a folder with its links followed.
func (l *Links) whole(dir string) string {
	w := walk{l: l, last: true}
	return w.whole(dir)
}

// walk follows one path from part to part.
type walk struct {
	l *Links
	// globs says that a part may be a pattern, last that a link at the end is followed.
	globs, last bool
	// gone is true behind a part that does not exist.
	gone bool
	out  []string
}

// whole is where a folder leads, or the folder where it has no link.
func (w *walk) whole(dir string) string {
	if at, rest := paths.Root(dir); at == "" || !w.step(at, rest, 0, false) || len(w.out) != 1 {
		return dir
	}
	return w.out[0]
}

// from follows a path, from the project on where that is known.
func (w *walk) from(p string) bool {
	root, hops := w.l.At.Root, 0
	if w.l.Real.Root != root {
		hops = 1
	}
	if below, ok := spell.CutPrefix(p, root+"/"); ok && root != "" {
		return w.step(w.l.Real.Root, below, hops, w.l.gone)
	}
	at, rest := paths.Root(p)
	return w.step(at, rest, 0, false)
}

// step follows rest from done, which has no link. It is false where nobody can tell.
func (w *walk) step(done, rest string, hops int, gone bool) bool {
	if len(done)+len(rest) > maxPath {
		return false
	}
	for rest != "" {
		part, after, more := spell.Cut(rest, "/")
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
func (w *walk) jump(done, target, after string, more bool, hops int) bool {
	if hops++; hops > maxHops {
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

func (w *walk) end(p string, hops int) {
	if hops > 0 {
		w.out = append(w.out, p)
	}
}

// read is what a link leads to, "" for what is none. gone is set where nothing is there.
func (l *Links) read(p string, gone *bool) (string, bool) {
	if target, made := l.made[p]; made {
		*gone = false
		if target == Untold {
			return "", l.reads
		}
		return target, true
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
func (w *walk) each(dir, glob, after string, hops int) bool {
	matches := func(name string) bool {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(glob, ".") {
			return false
		}
		ok, err := path.Match(strings.ReplaceAll(glob, "[!", "[^"), name)
		return ok || err != nil || strings.Contains(glob, "(")
	}
	for _, p := range lists.Keys(w.l.made) {
		if path.Dir(p) == dir && matches(path.Base(p)) && !w.made(dir, p, after, hops) {
			return false
		}
	}
	f, err := os.Open(filepath.FromSlash(dir))
	w.l.left--
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	defer f.Close()
	share := 1
	if lists.Has(w.l.listed, dir) {
		share = 16
	}
	w.l.listed = lists.Add(w.l.listed, []string{dir})
	for err == nil {
		var list []fs.DirEntry
		list, err = f.ReadDir(256)
		if w.l.left -= len(list) / share; w.l.left < 0 {
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

// made follows a link that the line makes.
func (w *walk) made(dir, p, after string, hops int) bool {
	if to := w.l.made[p]; to != Untold {
		return w.jump(dir, to, after, true, hops)
	}
	return w.l.reads
}

// entry follows what is in a folder, whatever its name.
func (w *walk) entry(dir string, e fs.DirEntry, after string, hops int) bool {
	gone, next := false, strings.TrimSuffix(dir, "/")+"/"+e.Name()
	if e.IsDir() {
		return w.step(next, after, hops, false)
	}
	target, known := w.l.read(next, &gone)
	return known && (target == "" || w.jump(dir, target, after, true, hops))
}

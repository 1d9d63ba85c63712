package guard

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/builtins/links"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
)

// A target is judged as it is written and as it is with symbolic links followed; the
// stricter answer counts. What happens to a link between the judgement and the run is
// not seen.

// ofFile reports whether an effect is about a file of this machine that may be judged.
func ofFile(e *shell.Effect) bool {
	if e.Host != "" || e.Domain != shell.DomainFile && e.Domain != shell.DomainPermission || e.Op == "use" || len(e.Target) < 2 {
		return false
	}
	return (e.Target[0] == '/' || e.Target[1] == ':') && (e.Kind == shell.EffectDelete || e.Kind == shell.EffectWrite || e.Kind == shell.EffectRead)
}

// linked judges an effect by where its target leads.
func (g *shellGuard) linked(says *guardSays, s *shell.Line, i int, l *links.Links) {
	e := &s.Effects[i]
	if i > 0 && strings.HasPrefix(e.Op, "link") && s.Effects[i-1].Op == e.Op && s.Effects[i-1].Command == e.Command {
		return // what it makes in the folder that was judged
	}
	c := commandOf(s, e)
	reads := e.Kind == shell.EffectRead
	targets, known := follow(s, e, l)
	switch {
	case reads && e.Place != shell.ZoneProject && e.Place != shell.ZoneTemp:
		known = true // the system refuses it as well
	case !reads && (e.Recursive || e.Certainty == shell.CertainPattern) && followsAll(s, c):
		known = false
	}
	if !known {
		g.finds(says, s, e, g.counts(adviceLink, s, e, &l.At))
	}
	found := *e
	for _, p := range targets {
		if e.Kind == shell.EffectWrite && folderWrites[e.Op] && e.Written == "" && isFile(p) {
			continue // the link is replaced
		}
		found.Target = p
		for _, p := range append(landings(s, &found), p) {
			found.Target = p
			if e.Certainty != shell.CertainPattern {
				p = shell.Globless.Replace(p)
			}
			found.Place, found.Secret = l.Real.ZoneOf(p)
			g.finds(says, s, &found, g.judge(s, &found, &l.Real))
		}
	}
	makeLinks(s, i, l)
}

// follow lists where the target of an effect leads.
//
//go:noinline
func follow(s *shell.Line, e *shell.Effect, l *links.Links) ([]string, bool) {
	return l.Follow(links.Path{Text: e.Target, Written: e.Written, Globs: e.Certainty == shell.CertainPattern, Last: followsLast(commandOf(s, e), e), Reads: e.Kind == shell.EffectRead})
}

// keepsLink are what is done to a link and not to what it leads to.
var keepsLink = losses.Words("rm unlink rmdir move delete find-delete archive")

// isFile reports whether a path is on this disk and no folder.
func isFile(p string) bool {
	info, err := os.Stat(filepath.FromSlash(p))
	return err == nil && !info.IsDir()
}

// hasFlag reports whether a command has one of some flags.
//
//go:noinline
func hasFlag(c *shell.Command, flags string) bool {
	for _, f := range c.Flags {
		if shell.WordIn(f, flags) {
			return true
		}
	}
	return false
}

// followsLast reports whether a command follows a link that is the last part of a path.
// What replaces a link leaves what it leads to alone.
func followsLast(c *shell.Command, e *shell.Effect) bool {
	switch {
	case e.Kind == shell.EffectDelete:
		return !keepsLink()[e.Op]
	case e.Op == "sed-in-place" || e.Op == "edit-in-place" && shell.WordIn(c.Name, "perl ruby"):
		return hasFlag(c, "--follow-symlinks")
	case folderWrites[e.Op]:
		return !hasFlag(c, "-n -T --no-dereference --no-target-directory")
	}
	return e.Domain != shell.DomainPermission || !hasFlag(c, "-h --no-dereference")
}

// followsAll reports whether a command, or the find that runs it, follows the links that it
// meets in a folder.
func followsAll(s *shell.Line, c *shell.Command) bool {
	found := lists.Has(c.Via, "find")
	for i := range s.Commands {
		by := &s.Commands[i]
		if (by == c || found && by.Name == "find") && shell.WordIn(by.Name, "find chmod chown chgrp") && hasFlag(by, "-L -follow --dereference") {
			return true
		}
	}
	return false
}

// makeLinks keeps the links that an effect makes for those behind it.
func makeLinks(s *shell.Line, i int, l *links.Links) {
	e := &s.Effects[i]
	copies := e.Op == "copy" || e.Op == "move"
	if e.Kind != shell.EffectWrite || e.Certainty != shell.CertainKnown || i+1 == len(s.Effects) || !copies && !strings.HasPrefix(e.Op, "link") {
		return
	}
	c := commandOf(s, e)
	place := l.Place(e.Target)
	sources := linkSources(s, e, c)
	into := len(sources) > 1 || strings.HasSuffix(e.Written, "/") || isFolder(place, true)
	for _, from := range sources {
		if copies && !hasFlag(c, "-s -l --symbolic-link --link") && !l.Is(from) {
			continue // a copy of its own
		}
		at := place
		if into {
			at = path.Join(at, path.Base(from))
		}
		l.Make(at, from)
	}
}

// linkSources are what the links of a command lead to, as they are written there.
func linkSources(s *shell.Line, e *shell.Effect, c *shell.Command) []string {
	if e.Op == "copy" || e.Op == "move" {
		return sourcesOf(s, e)
	}
	if c.Name != "ln" {
		return []string{links.Untold}
	}
	whole := !hasFlag(c, "-s --symbolic") || hasFlag(c, "-r --relative")
	var out []string
	for _, w := range c.Argv[1:] {
		to := w.Text
		switch {
		case w.Dynamic && strings.IndexAny(to, "$`") == 0:
			to = links.Untold
		case strings.HasPrefix(to, "-"):
			continue
		case whole && !strings.HasPrefix(to, "/"):
			to = c.Dir + "/" + to
		}
		out = append(out, to)
	}
	if len(out) > 1 && !hasFlag(c, "-t --target-directory") {
		out = out[:len(out)-1]
	}
	return out
}

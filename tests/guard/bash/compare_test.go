//go:build linux

package bash

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hookc/hookc/builtins/shell"
)

// cover says how well something that happened was foreseen.
type cover int

const (
	missed cover = iota
	// opaque: the analysis says that code runs which it does not know.
	opaque
	// open: a pattern or a dynamic part stands for it.
	open
	// exact: listed word for word, or path for path.
	exact
)

func (c cover) String() string { return [...]string{"missed", "opaque", "open", "exact"}[c] }

// thing is one thing that happened, and how well it was foreseen.
type thing struct {
	what  string
	cover cover
}

// judge weighs all that happened against the analysis.
func judge(s *shell.Line, h happened) []thing {
	floor := missed
	if len(s.Unknown) > 0 || slices.ContainsFunc(s.Effects, isOpaque) {
		floor = opaque
	}
	var out []thing
	add := func(c cover, format string, args ...any) {
		out = append(out, thing{fmt.Sprintf(format, args...), max(c, floor)})
	}
	for _, c := range h.Calls {
		if c.Name == payload {
			add(remote(s), "code from the network ran")
			continue
		}
		if !noise(c, h.Calls) {
			add(callCover(s, c), "%s %q in %s %s", c.Name, c.Args, c.Dir, c.Host)
		}
		if strings.Contains(strings.Join(c.Stdin, "\n"), canary) {
			add(secretCover(s, shell.EffectConnect), "a secret went to %s", c.Name)
		}
	}
	for _, p := range h.Gone {
		add(pathCover(s, p), "deleted %s", p)
	}
	for _, p := range h.Changed {
		add(pathCover(s, p), "changed %s", p)
	}
	if len(h.Lost) > 0 {
		dir, _, _ := strings.Cut(h.Lost[0], " ")
		add(pathCover(s, filepath.Join(dir, "refs")), "%d commits lost in %s", len(h.Lost), dir)
	}
	if h.Shown {
		add(secretCover(s, shell.EffectRead), "a secret was printed")
	}
	return out
}

// isOpaque reports an effect that says that code runs which is not known. A
// script that is named is known: what it does must be listed if the line wrote
// it, and the project's own do nothing.
func isOpaque(e shell.Effect) bool {
	switch {
	case e.Kind == shell.EffectUnknown:
		return true
	case e.Kind != shell.EffectExec:
		return false
	}
	return e.Certainty == shell.CertainDynamic || e.Op == "remote-code" || e.Op == "decoded-code" || e.Op == "generated-code"
}

func remote(s *shell.Line) cover {
	for _, e := range s.Effects {
		if e.Kind == shell.EffectExec && (e.Op == "remote-code" || e.Op == "decoded-code") {
			return exact
		}
	}
	return missed
}

// noise is what git's own scripts call.
func noise(c call, all []call) bool {
	if !slices.ContainsFunc(all, func(o call) bool { return slices.Contains(o.Args, "filter-branch") }) {
		return false
	}
	own := func(a string) bool { return strings.Contains(a, ".git-rewrite") || strings.HasPrefix(a, "../") }
	return c.Name == "sleep" || c.Name == "rm" && slices.ContainsFunc(c.Args, own)
}

// madeUp is how the analysis writes the part of a name that mktemp chooses.
var madeUp = regexp.MustCompile(`XXX+`)

func callCover(s *shell.Line, ran call) cover {
	best := missed
	for i := range s.Commands {
		c := &s.Commands[i]
		if c.Name == "" {
			best = max(best, open)
			continue
		}
		if c.Name != ran.Name || ran.Host == "" && c.Dir != "" && ran.Dir != "" && c.Dir != ran.Dir || len(c.Argv) == 0 {
			continue
		}
		if wordsMatch(c.Argv[1:], ran.Args, exactly) {
			return exact
		}
		if wordsMatch(c.Argv[1:], ran.Args, openly) {
			best = max(best, open)
		}
	}
	return best
}

func exactly(w shell.Word, arg string) bool { return !w.Dynamic && w.Text == arg }

// openly lets a word that is not known be any, and a pattern what it matches.
func openly(w shell.Word, arg string) bool {
	if w.Dynamic || w.Text == arg {
		return true
	}
	if folded := madeUp.FindString(w.Text); folded != "" {
		// What mktemp will make is known but for its last letters.
		before, after, _ := strings.Cut(w.Text, folded)
		return strings.HasPrefix(arg, before) && strings.HasSuffix(arg, after) && len(arg) == len(w.Text)
	}
	if !w.Pattern {
		return false
	}
	for _, text := range []string{w.Text, path.Clean(w.Text)} {
		for _, p := range []string{arg, path.Clean(arg)} {
			if ok, err := doublestar.Match(text, p); ok || err != nil {
				return true
			}
		}
	}
	return false
}

// wordsMatch matches words with arguments; an open word may be several
// arguments, and a dynamic one none.
func wordsMatch(words []shell.Word, args []string, match func(shell.Word, string) bool) bool {
	if len(words) == 0 {
		return len(args) == 0
	}
	w, rest := words[0], words[1:]
	loose := w.Dynamic || w.Pattern
	if loose && wordsMatch(rest, args, match) {
		return true
	}
	if len(args) == 0 || !match(w, args[0]) {
		return false
	}
	return wordsMatch(rest, args[1:], match) || loose && wordsMatch(words, args[1:], match)
}

// pathCover says how well the effects cover that a file was deleted or
// changed.
func pathCover(s *shell.Line, p string) cover {
	best := missed
	for _, e := range s.Effects {
		best = max(best, effectCover(e, p))
	}
	return best
}

func effectCover(e shell.Effect, p string) cover {
	switch e.Kind {
	case shell.EffectGitHistory:
		if within(project, p) || within(origin, p) {
			return exact
		}
		return missed
	case shell.EffectDelete, shell.EffectWrite, shell.EffectDevice:
	default:
		return missed
	}
	switch {
	case e.Certainty == shell.CertainDynamic:
		known, _, _ := strings.Cut(e.Target, "$")
		if e.Place == shell.ZoneUnknown || strings.HasPrefix(p, known) {
			return open
		}
	case e.Certainty == shell.CertainPattern:
		if globCovers(e, p) {
			return open
		}
	case e.Target == p || e.Recursive && within(e.Target, p):
		return exact
	}
	return missed
}

// globCovers reports whether the glob of an effect matches the path, or, when
// all below is meant, a directory above it.
func globCovers(e shell.Effect, p string) bool {
	for {
		if ok, err := doublestar.Match(e.Target, p); ok || err != nil {
			return true
		}
		if !e.Recursive || p == "/" {
			return false
		}
		p = path.Dir(p)
	}
}

func within(dir, p string) bool {
	return dir == "/" || p == dir || strings.HasPrefix(p, dir+"/")
}

// secretCover looks for an effect on a secret: of the kind, or a read of it.
func secretCover(s *shell.Line, kind shell.EffectKind) cover {
	best := missed
	for _, e := range s.Effects {
		if e.Secret != "" && (e.Kind == kind || e.Kind == shell.EffectRead) {
			return exact
		}
		if e.Kind == shell.EffectRead && (e.Certainty == shell.CertainDynamic || e.Certainty == shell.CertainPattern) {
			best = open
		}
	}
	return best
}

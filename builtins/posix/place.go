package posix

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/winshell"
	"github.com/hookc/hookc/internal/paths"
)

// Absolute is text from dir, "" when dir is needed and not known.
func Absolute(dir, text string) string {
	text = paths.Slash(text)
	if strings.HasPrefix(text, "/") {
		return path.Clean("/" + strings.TrimLeft(text, "/"))
	}
	if winshell.Drive(text) {
		return path.Clean(strings.ReplaceAll(text, `\`, "/") + "/.")
	}
	if at, _ := paths.Root(text); at != "" && at[0] != '~' {
		p, _ := paths.Clean(text)
		return p
	}
	if dir == "" {
		return ""
	}
	return path.Clean(dir + "/" + text)
}

// Succeeds reports whether a statement is taken to do what it says: what follows && happens.
func Succeeds(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) == 0 || losses.In(c.Args[0].Lit(), "cd pushd popd mkdir true : set shopt alias export source . echo printf git touch cp mv trap unset local read mktemp sleep rm")
	case *syntax.DeclClause:
		return c.Variant.Value != "local" // an error outside of a function
	case *syntax.FuncDecl:
		return true
	}
	return false
}

// Either reports whether a statement prints what one command answers or, where that has no answer
// and prints nothing, what the next does: git rev-parse --show-toplevel || pwd.
func Either(s *syntax.Stmt) bool {
	or, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || or.Op != syntax.OrStmt {
		return false
	}
	c, ok := or.X.Cmd.(*syntax.CallExpr)
	if !ok {
		return Either(or.X)
	}
	return len(c.Args) > 1 && (losses.In(c.Args[0].Lit(), "readlink realpath mktemp dirname basename which") ||
		len(c.Args) > 2 && c.Args[0].Lit() == "git" && c.Args[1].Lit() == "rev-parse" && losses.In(c.Args[2].Lit(), "--show-toplevel --git-dir --git-common-dir"))
}

// MovesOn reports whether a statement goes to another directory: what follows may happen there.
func MovesOn(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 1 && losses.In(c.Args[0].Lit(), "cd pushd")
}

// Unclean is text from dir where it says more of links than a clean path: `x/../y`, `x/`.
func Unclean(dir, text string) string {
	text = paths.Slash(text)
	if !strings.HasSuffix(text, "/") && !strings.HasSuffix(text, "/.") && !strings.Contains(text, "..") {
		return ""
	}
	if !strings.HasPrefix(text, "/") {
		text = dir + "/" + text
	}
	return text
}

// Flat is how an unknown part stands in a path: in one piece.
//
//go:noinline
func Flat(text string) string {
	if strings.IndexByte(text, '/') >= 0 {
		return "$(...)"
	}
	return text
}

// IsStream reports whether a path is of what is no file.
func IsStream(p string) bool {
	return losses.In(p, "/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty /dev/full /dev/kmsg /dev/ptmx") ||
		strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "/dev/pts/") || strings.HasPrefix(p, "/dev/tty")
}

package guard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
)

// copies judges what gives hookc's program another name: under that name it
// could not be told any more, since the same line may run it. A source is judged
// whether it is written out, or is a glob, or is where the shell finds a program.
func (c *selfCall) copies(s *shell.Line, e *shell.Effect) {
	if e.Command < 0 || e.Command >= len(s.Commands) {
		return
	}
	cmd := &s.Commands[e.Command]
	switch {
	case e.Kind == shell.EffectDelete && e.Op == "move":
	case e.Kind != shell.EffectRead:
		return
	case e.Op == "copy", e.Op == "dd", e.Op == "redirect":
	case movesFiles(cmd.Name) && (cmd.Pipe > 0 || len(cmd.Redirects) > 0):
	default:
		return
	}
	switch e.Certainty {
	case shell.CertainKnown:
		if !c.own.isProgram(e.Target) || isFolder(e.Target, false) || !exists(e.Target) && keepsOwnName(cmd) {
			return
		}
	case shell.CertainPattern:
		if !c.globIsProgram(e.Target) && !slices.ContainsFunc(matchesOf(e), c.own.isProgram) {
			return
		}
	default:
		if e.Op == "redirect" || !mentionsHookc(s) {
			return
		}
	}
	c.renames(e.Target)
}

// madeHere reports whether a command runs, with words that weaken hookc, a
// program that the same line makes of a file that is not written out: that file
// may be hookc, however it was found.
func (c *selfCall) madeHere(s *shell.Line, cmd *shell.Command) bool {
	words := shell.WordTexts(cmd.Argv[1:])
	if len(words) == 0 || !shell.WordIn(words[0], "trust uninstall approvals") && !(words[0] == "serve" && lists.Has(words, "stop")) {
		return false
	}
	p := posix.Absolute(cmd.Dir, cmd.Argv[0].Text)
	made := func(w shell.Effect) bool { return w.Kind == shell.EffectWrite && w.Target == p }
	return p != "" && shell.AnyEffect(s.Effects, func(from *shell.Effect) bool {
		return (from.Kind == shell.EffectRead || from.Kind == shell.EffectDelete) && from.Certainty != shell.CertainKnown &&
			shell.AnyEffect(s.Effects, func(w *shell.Effect) bool { return made(*w) && w.Command == from.Command })
	})
}

func (c *selfCall) renames(p string) {
	c.says.add(c.g.verdict, func() string {
		return fmt.Sprintf("a copy of %s could be run where nobody sees that it is hookc; instead: run it where it is, such as `hookc version`", shown(p))
	})
}

// keepsOwnName reports whether what a command makes is called as hookc's programs
// are, or lies in a folder, where it keeps its name.
func keepsOwnName(cmd *shell.Command) bool {
	names := operandPaths(cmd)
	if len(names) == 0 {
		return false
	}
	last := names[len(names)-1]
	return isOwnName(last) || isFolder(last, false) || strings.HasSuffix(cmd.Argv[len(cmd.Argv)-1].Text, "/")
}

// globIsProgram reports whether a glob can match hookc or hookgate.
func (c *selfCall) globIsProgram(glob string) bool {
	glob = strings.ToLower(glob)
	return isOwnName(glob) || slices.ContainsFunc(c.own.programs, func(p string) bool {
		ok, err := doublestar.Match(glob, strings.ToLower(p))
		return ok || err != nil
	})
}

// isProgramOrGlob is isProgram for the operand of a command, which may be a glob.
func (c *selfCall) isProgramOrGlob(p string) bool {
	return c.own.isProgram(p) && !isFolder(p, false) || strings.ContainsAny(p, losses.GlobChars) && c.globIsProgram(p)
}

// globIsHookc reports whether the shell may make hookc of a command's name that
// is a glob. A name without a folder is that of a file in dir, and then looked
// for in PATH.
func (c *selfCall) globIsHookc(dir, glob string) bool {
	if p := posix.Absolute(dir, glob); p != "" && c.globIsProgram(p) {
		return true
	}
	glob = strings.ToLower(glob)
	if strings.Contains(glob, "/") || strings.Trim(glob, "*?.") == "" {
		return false
	}
	return slices.ContainsFunc([]string{"hookc", "hookgate"}, func(name string) bool {
		ok, err := path.Match(glob, name)
		return ok || err != nil
	})
}

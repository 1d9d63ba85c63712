package guard

import (
	"path"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
)

// changed adds what commands do to files that their effects do not list: git
// that takes files back, patches, formatters.
func (g *pathGuard) changed(says *guardSays, s *shell.Line, at *shell.At) {
	for i := range s.Commands {
		cmd := &s.Commands[i]
		if cmd.Host != "" || len(cmd.Argv) == 0 {
			continue
		}
		files, whole, known := filesOf(cmd)
		if !known {
			says.add(g.unknown, func() string {
				return cmd.Name + " applies a patch that cannot be read, which may change a protected file; instead: write the patch into a file first and look at it, `cat fix.patch`"
			})
		}
		for _, f := range files {
			if f == "" {
				continue
			}
			e := shell.Effect{Kind: shell.EffectDelete, Domain: shell.DomainFile, Target: f, Certainty: shell.CertainKnown, Recursive: true, Command: i}
			if !whole && !isFolder(f, false) {
				e.Kind, e.Recursive = shell.EffectWrite, false
			}
			if strings.ContainsAny(f, "$`") {
				e.Certainty = shell.CertainDynamic
			} else if strings.ContainsAny(f, losses.GlobChars) {
				e.Certainty = shell.CertainPattern
			}
			g.effect(says, &e, at)
		}
	}
}

// filesOf lists the files that a command changes; whole says that folders are
// taken with all that is in them, known that all could be told.
func filesOf(cmd *shell.Command) (files []string, whole, known bool) {
	switch {
	case cmd.Name == "git" || cmd.Name == "hub":
		return gitFiles(cmd)
	case cmd.Name == "patch" || cmd.Name == "gpatch":
		files, known = patchedFiles(cmd, cmd.Argv)
		return files, false, known
	case !losses.Rewrites(cmd.Name, shell.WordTexts(cmd.Argv[1:])):
		return nil, false, true
	}
	return operandPaths(cmd), shell.WordIn(cmd.Name, "gio trash trash-put"), true
}

// gitFiles are the files that a git command takes back, moves or removes, "" for
// one of a folder that is not known.
func gitFiles(cmd *shell.Command) (files []string, whole, known bool) {
	w, ok := gitWorkOf(cmd)
	if !ok {
		return nil, false, true
	}
	var specs []string
	rest, separated := w.rest()
	operands := w.operands()
	one := operands[:min(1, len(operands))]
	first := strings.Join(one, "")
	switch w.sub {
	case "apply", "am":
		files, known = patchedFiles(cmd, append([]shell.Word{shell.NewWord("patch")}, w.args...))
		return files, false, known
	case "stash":
		if first == "push" {
			specs = operands[1:]
		} else if !shell.WordIn(first, "list show drop clear branch pop apply") {
			specs = rest
		}
	case "checkout":
		if specs = rest; !separated && !w.has("-b -B --orphan") {
			specs = operands
		}
		if len(specs) == 1 && !separated && strings.Contains(specs[0], "/") && path.Ext(specs[0]) == "" && exists(w.dir) && !exists(posix.Absolute(w.dir, specs[0])) {
			specs = nil // a branch
		}
	case "merge-file":
		if !w.has("-p --stdout") {
			specs = one
		}
	case "config":
		if w.has("-f --file") && !w.has("--get --get-all --get-regexp") && (len(operands) > 2 || w.has("--unset --unset-all --remove-section")) {
			specs = one
		}
	case "restore", "rm", "mv", "clean", "checkout-index":
		if (w.has("--staged -S --cached --dry-run --temp") || lists.Has(cmd.Flags, "-n")) && !w.has("--worktree -W") {
			return nil, false, true
		}
		if specs = operands; len(specs) == 0 && w.sub == "clean" || (w.has("--all") || lists.Has(cmd.Flags, "-a")) && w.sub == "checkout-index" {
			specs = []string{"."}
		}
	}
	for _, spec := range specs {
		dir := w.dir
		if w.sub == "stash" && strings.Contains(spec, " ") {
			continue // a message
		}
		if top := strings.TrimPrefix(strings.TrimPrefix(spec, ":/"), ":(top)"); top != spec {
			if root, _, err := paths.Repository(dir); err == nil && root != "" {
				dir = paths.Slash(root)
			}
			spec = top
		} else if strings.HasPrefix(spec, ":") {
			spec = "*" // :!x and its like mean any others
		}
		files = append(files, posix.Absolute(dir, spec))
	}
	back := (separated && w.sub == "checkout" || w.sub == "restore") && !lists.Has(specs, ".") // a folder with all below
	return files, w.sub == "rm" || w.sub == "mv" || back, true
}

package guard

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
)

// rewriters are programs that write the files they are given, with the options
// of which one must be there; none is needed where the list is empty.
var rewriters = map[string]string{
	"prettier": "--write -w", "yq": "-i --inplace -iy -yi", "eslint": "--fix", "stylelint": "--fix", "gofmt": "-w", "goimports": "-w", "gofumpt": "-w", "shfmt": "-w",
	"clang-format": "-i", "crudini": "--set --del", "dasel": "put delete", "biome": "--write --apply --fix", "jq": "-i --in-place", "xmlstarlet": "-L --inplace",
	"black": "", "isort": "", "ruff": "format --fix", "rustfmt": "", "dos2unix": "", "unix2dos": "", "sd": "", "trash": "", "trash-put": "", "gio": "trash", "autopep8": "-i --in-place",
	"buildifier": "", "taplo": "fmt format", "ed": "", "ex": "", "rename": "", "sponge": "", "patchelf": "", "strip": "", "gzip": "", "bzip2": "", "xz": "", "unlink": "",
}

// changed adds what commands do to files that their effects do not list: git
// that takes files back, patches, formatters.
func (g *pathGuard) changed(says *guardSays, s *shell.Line, at shell.At) {
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
			if strings.ContainsAny(f, losses.GlobChars) {
				e.Certainty = shell.CertainPattern
			}
			g.effect(says, &e, at)
		}
	}
}

// filesOf lists the files that a command changes; whole says that folders are
// taken with all that is in them, known that all could be told.
func filesOf(cmd *shell.Command) (files []string, whole, known bool) {
	needs, rewrites := rewriters[cmd.Name]
	switch {
	case cmd.Name == "git" || cmd.Name == "hub":
		return gitFiles(cmd)
	case cmd.Name == "patch" || cmd.Name == "gpatch":
		files, known = patchedFiles(cmd, cmd.Argv)
		return files, false, known
	case !rewrites:
		return nil, false, true
	}
	if needs != "" && !slices.ContainsFunc(cmd.Argv[1:], func(w shell.Word) bool { return shell.WordIn(w.Text, needs) }) {
		return nil, false, true
	}
	return operandPaths(cmd), needs == "trash" || strings.HasPrefix(cmd.Name, "trash"), true
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
	switch w.sub {
	case "apply", "am":
		files, known = patchedFiles(cmd, append([]shell.Word{shell.NewWord("patch")}, w.args...))
		return files, false, known
	case "stash":
		specs = rest
	case "checkout":
		if specs = rest; !separated && !w.has("-b", "-B", "--orphan") {
			specs = w.operands()
		}
	case "restore", "rm", "mv", "clean", "checkout-index":
		if (w.has("--staged", "-S", "--cached", "--dry-run") || lists.Has(cmd.Flags, "-n")) && !w.has("--worktree", "-W") {
			return nil, false, true
		}
		if specs = w.operands(); len(specs) == 0 && w.sub == "clean" || (w.has("--all") || lists.Has(cmd.Flags, "-a")) && w.sub == "checkout-index" {
			specs = []string{"."}
		}
	}
	for _, spec := range specs {
		dir := w.dir
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

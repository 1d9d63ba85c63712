package guard

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/paths"
)

// gitWork is a git command that changes files of the work tree.
type gitWork struct {
	cmd  *shell.Command
	dir  string
	sub  string
	args []shell.Word
}

// git judges a git command by the files of hookc that it would change.
func (c *selfCall) git(cmd *shell.Command) {
	w, ok := gitWorkOf(cmd)
	if !ok {
		return
	}
	switch w.sub {
	case "checkout", "switch":
		c.gitCheckout(w)
	case "restore", "rm", "checkout-index":
		if !w.has("--staged", "-S", "--cached", "-n", "--dry-run") || w.has("--worktree", "-W") {
			c.gitPaths(w, w.operands(), w.has("-a", "--all"))
		}
	case "mv":
		c.gitPaths(w, w.operands(), false)
	case "clean":
		if !w.has("-n", "--dry-run") {
			paths := w.operands()
			c.gitPaths(w, paths, len(paths) == 0)
		}
	case "reset":
		if w.has("--hard", "--merge", "--keep") {
			c.gitTree(w, append(w.operands(), "HEAD")[0], true)
		}
	case "stash":
		c.gitStash(w)
	case "merge", "rebase", "cherry-pick", "revert", "bisect", "read-tree":
		c.gitCommits(w)
	case "pull":
		c.gitTree(w, "", false)
	case "apply", "am":
		c.patches(cmd, append([]shell.Word{shell.NewWord("patch")}, w.args...))
	case "clone", "submodule", "worktree", "init", "subtree":
		for _, p := range w.operands() {
			c.gitNew(w, p)
		}
	}
}

// gitWorkOf reads the options before git's own command.
func gitWorkOf(cmd *shell.Command) (w gitWork, ok bool) {
	w = gitWork{cmd: cmd, dir: cmd.Dir}
	args := cmd.Argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		switch name, value, set := strings.Cut(args[0].Text, "="); {
		case (name == "-C" || name == "--work-tree") && !set && len(args) > 1:
			w.dir, args = shell.Absolute(w.dir, args[1].Text), args[1:]
		case name == "--work-tree":
			w.dir = shell.Absolute(w.dir, value)
		case (name == "-c" || name == "--git-dir" || name == "--namespace") && !set && len(args) > 1:
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return w, false
	}
	w.sub, w.args = args[0].Text, args[1:]
	return w, true
}

func (w *gitWork) has(flags ...string) bool {
	return slices.ContainsFunc(w.args, func(a shell.Word) bool { return slices.Contains(flags, a.Text) })
}

// operands are the words that are no options.
func (w *gitWork) operands() []string {
	var out []string
	for i, a := range w.args {
		if strings.HasPrefix(a.Text, "-") && !slices.ContainsFunc(w.args[:i], func(b shell.Word) bool { return b.Is("--") }) {
			continue
		}
		out = append(out, a.Text)
	}
	return out
}

// gitCheckout tells files that are taken back from a switch of branches.
func (c *selfCall) gitCheckout(w gitWork) {
	i := slices.IndexFunc(w.args, func(a shell.Word) bool { return a.Is("--") })
	if i >= 0 && w.sub == "checkout" {
		var paths []string
		for _, a := range w.args[i+1:] {
			paths = append(paths, a.Text)
		}
		c.gitPaths(w, paths, false)
		return
	}
	operands := w.operands()
	creates := w.has("-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan")
	if creates && len(operands) > 0 {
		operands = operands[1:]
	}
	if w.sub == "checkout" && !creates {
		c.gitPaths(w, operands, false)
	}
	switch {
	case len(operands) > 0:
		c.gitTree(w, operands[0], w.has("-f", "--force", "--discard-changes"))
	case w.has("-f", "--force", "--discard-changes"):
		c.gitTree(w, "HEAD", true)
	}
}

func (c *selfCall) gitStash(w gitWork) {
	operands := w.operands()
	verb := "push"
	if len(operands) > 0 {
		verb = operands[0]
	}
	switch verb {
	case "list", "show", "drop", "clear", "create", "store":
	case "pop", "apply", "branch":
		c.gitTree(w, append(operands[1:], "stash@{0}")[0], false)
	default:
		if i := slices.IndexFunc(w.args, func(a shell.Word) bool { return a.Is("--") }); i >= 0 {
			c.gitPaths(w, shell.WordTexts(w.args[i+1:]), false)
			return
		}
		c.gitTree(w, "HEAD", true)
		if w.has("-u", "--include-untracked", "-a", "--all") {
			c.gitPaths(w, nil, true)
		}
	}
}

// gitCommits judges commands that bring the changes of commits.
func (c *selfCall) gitCommits(w gitWork) {
	if w.has("--abort", "--quit") {
		c.gitTree(w, "ORIG_HEAD", true)
		return
	}
	operands := w.operands()
	if w.has("--continue", "--skip") || w.sub == "bisect" || len(operands) == 0 {
		c.gitTree(w, "", false)
		return
	}
	for _, rev := range operands {
		switch w.sub {
		case "cherry-pick", "revert":
			if strings.Contains(rev, "..") {
				c.gitTree(w, "", false)
			} else {
				c.gitDiffers(w, rev+"^", rev, false)
			}
		default:
			c.gitTree(w, rev, false)
		}
	}
}

// gitPaths judges pathspecs; all means the whole folder.
func (c *selfCall) gitPaths(w gitWork, specs []string, all bool) {
	if all {
		specs = []string{"."}
	}
	for _, spec := range specs {
		if spec == "--" {
			continue
		}
		if strings.HasPrefix(spec, ":") || strings.ContainsAny(spec, shell.GlobChars+"$`") {
			for _, f := range c.inTree(w) {
				c.deny(f, f)
				return
			}
			continue
		}
		if p := shell.Absolute(w.dir, spec); p == "" {
			c.weakens(w.cmd, "changes files that cannot be told")
		} else if w.sub != "clean" || c.untrackedBelow(w, p) {
			c.path(p, true)
		}
	}
}

// untrackedBelow reports whether git clean would take a part of hookc away.
func (c *selfCall) untrackedBelow(w gitWork, p string) bool {
	for _, f := range c.inTree(w) {
		if shell.IsUnder(p, f) && !tracked(f) {
			return true
		}
	}
	return false
}

// gitNew judges the folder that a command makes a repository of.
func (c *selfCall) gitNew(w gitWork, text string) {
	if p := shell.Absolute(w.dir, text); p != "" && !shell.IsUnder(p, c.at.Root) && !isFolder(p, true) {
		c.path(p, true)
	}
}

// inTree lists the parts of hookc in the work tree of a command that are there.
func (c *selfCall) inTree(w gitWork) []string {
	root, _, err := paths.Repository(w.dir)
	if err != nil || root == "" {
		return nil
	}
	var out []string
	for _, f := range c.own.files {
		if shell.IsUnder(paths.Slash(root), f) && exists(f) {
			out = append(out, f)
		}
	}
	return out
}

// tracked reports whether git's index may hold a file. It is looked for by its
// last part, so that every format of the index can be read.
func tracked(p string) bool {
	root, git, err := paths.Repository(path.Dir(p))
	if err != nil || root == "" {
		return false
	}
	index, err := os.ReadFile(filepath.Join(git, "index"))
	return err == nil && bytes.Contains(index, []byte(path.Base(p)))
}

// gitTree judges a command after which the work tree is that of a revision; ""
// is one that nobody can tell. discards says that changes which were not
// committed are lost too.
func (c *selfCall) gitTree(w gitWork, rev string, discards bool) {
	c.gitDiffers(w, "HEAD", rev, discards)
}

// gitDiffers judges a command that brings what differs between two revisions.
func (c *selfCall) gitDiffers(w gitWork, from, rev string, discards bool) {
	files := c.inTree(w)
	if len(files) == 0 {
		return
	}
	if strings.ContainsAny(rev, "$`*") || strings.HasPrefix(rev, "-") {
		rev = ""
	}
	changed, known := "", false
	if rev != "" {
		changed, known = c.gitChanged(w, files, "diff-tree", "-r", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", from, rev)
	}
	if discards && changed == "" {
		changed, known = c.gitChanged(w, files, "diff-index", "--name-only", "--no-ext-diff", "--no-textconv", "HEAD")
	}
	if known && changed == "" {
		return
	}
	entry := files[0]
	if !known && !slices.ContainsFunc(files, func(f string) bool { entry = f; return tracked(f) }) {
		return // git leaves what it does not know alone
	}
	c.says.add(c.g.verdict, func() string {
		return shown(strings.Join(shell.WordTexts(w.cmd.Argv), " ")) + " would change " + shown(entry) +
			", or may, and that belongs to the policy that guards this session; instead: name commits that do not change it (`git fetch` first, then merge what was fetched), or let the user do it"
	})
}

// gitChanged asks git which of the files differ. It runs nothing that the
// repository names: no filter, no driver, no hook, no monitor, no fetch.
func (c *selfCall) gitChanged(w gitWork, files []string, args ...string) (changed string, known bool) {
	git, err := exec.LookPath("git")
	if err != nil {
		return "", false
	}
	cmd := exec.CommandContext(c.ctx, git, append(append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager", "--literal-pathspecs"}, args...), append([]string{"--"}, files...)...)...)
	cmd.Dir = filepath.FromSlash(w.dir)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err == nil
}

// patches judges a patch by the files that it names.
func (c *selfCall) patches(cmd *shell.Command, argv []shell.Word) {
	files, known := patchedFiles(cmd, argv)
	for _, p := range files {
		c.path(p, false)
	}
	if known {
		return
	}
	for _, f := range c.own.files {
		if shell.IsUnder(cmd.Dir, f) && exists(f) {
			c.weakens(cmd, "applies a patch that cannot be read, which may change "+f)
			return
		}
	}
}

// patchedFiles are the files that a patch names, however many folders are
// stripped of their names; known is false when it could not be read.
func patchedFiles(cmd *shell.Command, argv []shell.Word) (files []string, known bool) {
	var inputs []string
	known = true
	add := func(w shell.Word) {
		p := shell.Absolute(cmd.Dir, w.Text)
		known = known && !w.Dynamic && p != ""
		inputs = append(inputs, p)
	}
	for i, w := range argv[1:] {
		switch {
		case w.Is("--dry-run", "--check", "--stat", "--numstat", "--summary", "--abort", "--continue", "--skip", "--quit", "--help", "--version"):
			return nil, true
		case w.Is("-i", "--input") && i+2 < len(argv):
			add(argv[i+2])
		case !strings.HasPrefix(w.Text, "-") && cmd.Name != "patch" && cmd.Name != "gpatch":
			add(w)
		}
	}
	for _, r := range cmd.Redirects {
		if r.Op == "<" {
			add(r.Target)
		}
	}
	var text strings.Builder
	for _, p := range inputs {
		t, ok := scriptText(p)
		known = known && ok
		text.WriteString(t + "\n")
	}
	for _, name := range patchFiles(text.String()) {
		for at, more := strings.Trim(paths.Slash(name), `"`), true; more && at != ""; _, at, more = strings.Cut(at, "/") {
			if p := shell.Absolute(cmd.Dir, at); p != "" {
				files = append(files, p)
			}
		}
	}
	return files, known && len(inputs) > 0
}

package guard

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolfiles"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
)

// gitWork is a git command that changes files of the work tree, in dir.
type gitWork struct {
	cmd     *shell.Command
	at, dir string
	given   paths.Git
	foreign string // below which it changes files of another repository than theirs
	sub     string
	args    []shell.Word
}

// git judges a git command by the files of hookc that it would change: those it
// names, and those that differ in the revision of which the work tree is after it.
func (c *selfCall) git(s *shell.Line, cmd *shell.Command) {
	w, ok := gitWorkOf(cmd)
	if !ok || !shell.WordIn(w.sub, "apply am stash checkout restore rm mv clean checkout-index switch reset pull bisect merge rebase cherry-pick revert read-tree clone submodule worktree init subtree") {
		return
	}
	w.given.Add(append(os.Environ(), lineWords(s)...))
	w.foreign = w.given.Foreign(filepath.FromSlash(w.at))
	files, _, known := gitFiles(cmd)
	if !known {
		c.patches(cmd)
	}
	if w.foreign != "" && (len(files) > 0 || !known) {
		c.gitDiffers(w, "", "", false)
	}
	for _, p := range files {
		switch {
		case p == "":
			c.weakens(cmd, "changes files that cannot be told")
		case strings.ContainsAny(p, losses.GlobChars+"$`"):
			for _, f := range c.inTree(w) {
				c.deny(p, f)
			}
		case w.sub != "clean" || slices.ContainsFunc(c.inTree(w), func(f string) bool { return losses.IsUnder(p, f) && !tracked(f) }):
			c.path(p, w.sub != "apply" && w.sub != "am")
		}
	}
	operands := w.operands()
	first := func(otherwise string) string { return append(slices.Clip(operands), otherwise)[0] }
	switch w.sub {
	case "checkout", "switch":
		if w.has("-b -B -c -C --create --force-create --orphan") && len(operands) > 0 {
			operands = operands[1:]
		}
		if discards := w.has("--force --discard-changes") || lists.Has(cmd.Flags, "-f"); (len(operands) > 0 || discards) && !w.has("--") {
			c.gitDiffers(w, "HEAD", first("HEAD"), discards)
		}
	case "reset":
		if w.has("--hard --merge --keep") {
			c.gitDiffers(w, "HEAD", first("HEAD"), true)
		}
	case "stash":
		c.gitStash(w, first("push"), operands)
	case "pull", "bisect":
		c.gitDiffers(w, "HEAD", "", false)
	case "merge", "rebase", "cherry-pick", "revert", "read-tree":
		c.gitCommits(w, operands)
	case "clone", "submodule", "worktree", "init", "subtree":
		for _, text := range operands { // a folder that becomes a repository
			if p := posix.Absolute(w.dir, text); p != "" && !losses.IsUnder(p, c.at.Root) && !isFolder(p, true) {
				c.path(p, true)
			}
		}
	}
}

// gitWorkOf reads the options before git's own command.
func gitWorkOf(cmd *shell.Command) (w *gitWork, ok bool) {
	w = &gitWork{cmd: cmd, dir: cmd.Dir}
	args := cmd.Argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		name, value, set := spell.Cut(args[0].Text, "=")
		if !set && len(args) > 1 && shell.WordIn(name, "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source") {
			value, args = args[1].Text, args[1:]
		}
		switch key := strings.ToLower(value); name {
		case "-C":
			w.dir = posix.Absolute(w.dir, value)
		case "--git-dir":
			w.given.Dir = value
		case "--work-tree":
			w.given.Work = value
		case "--bare", "--no-replace-objects":
			w.given.More = true
		case "-c", "--config-env":
			w.given.More = w.given.More || strings.HasPrefix(key, "core.worktree") || strings.HasPrefix(key, "core.usereplacerefs")
		}
		args = args[1:]
	}
	if w.at = w.dir; w.given.Work != "" {
		w.dir = posix.Absolute(w.at, w.given.Work)
	}
	if len(args) == 0 {
		return w, false
	}
	w.sub, w.args = args[0].Text, args[1:]
	return w, true
}

//go:noinline
func (w *gitWork) has(flags string) bool {
	return lists.Some(w.args, func(a *shell.Word) bool { return shell.WordIn(a.Text, flags) })
}

// operands are the words that are no options.
func (w *gitWork) operands() []string {
	var out []string
	for i, a := range w.args {
		if strings.HasPrefix(a.Text, "-") && !lists.Some(w.args[:i], func(b *shell.Word) bool { return b.Is("--") }) {
			continue
		}
		out = append(out, a.Text)
	}
	return out
}

// rest are the words after --, and whether there is one.
func (w *gitWork) rest() (list []string, separated bool) {
	i := lists.At(w.args, func(a *shell.Word) bool { return a.Is("--") })
	if i < 0 {
		return nil, false
	}
	return shell.WordTexts(w.args[i+1:]), true
}

func (c *selfCall) gitStash(w *gitWork, verb string, operands []string) {
	switch verb {
	case "list", "show", "drop", "clear", "create", "store":
	case "pop", "apply", "branch":
		c.gitDiffers(w, "HEAD", append(operands[1:], "stash@{0}")[0], false)
	default:
		if !w.has("--") {
			c.gitDiffers(w, "HEAD", "HEAD", true)
		}
		if w.has("-u --include-untracked -a --all") {
			c.path(w.dir, true)
		}
	}
}

// gitCommits judges commands that bring the changes of commits.
func (c *selfCall) gitCommits(w *gitWork, operands []string) {
	switch {
	case w.has("--abort --quit"):
		c.gitDiffers(w, "HEAD", "ORIG_HEAD", true)
		return
	case w.has("--continue --skip"), len(operands) == 0:
		operands = []string{""}
	}
	for _, rev := range operands {
		switch picks := w.sub == "cherry-pick" || w.sub == "revert"; {
		case picks && strings.Contains(rev, ".."):
			c.gitDiffers(w, "HEAD", "", false)
		case picks && rev != "":
			c.gitDiffers(w, rev+"^", rev, false)
		default:
			c.gitDiffers(w, "HEAD", rev, false)
		}
	}
}

// inTree lists the parts of hookc in the work tree of a command that are there.
func (c *selfCall) inTree(w *gitWork) (out []string) {
	root, _, _ := paths.Repository(w.dir)
	root = lists.First(w.foreign, paths.Slash(root))
	real, _ := paths.Real(root, root)
	for _, f := range c.own.files {
		if root != "" && (losses.IsUnder(root, f) || losses.IsUnder(lists.First(real, root), f)) && exists(f) {
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

// gitDiffers judges a command that brings what differs between two revisions.
func (c *selfCall) gitDiffers(w *gitWork, from, rev string, discards bool) {
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
	if !known && w.foreign == "" && !slices.ContainsFunc(files, func(f string) bool { entry = f; return tracked(f) }) {
		return // git leaves what it does not know alone
	}
	c.says.add(c.g.verdict, func() string {
		return shown(strings.Join(shell.WordTexts(w.cmd.Argv), " ")) + " would change " + shown(entry) +
			", or may, and that belongs to the policy that guards this session; instead: name commits that do not change it (`git fetch` first, then merge what was fetched), or let the user do it"
	})
}

// gitChanged asks git which of the files differ. It runs nothing that the
// repository names: no filter, no driver, no hook, no monitor, no fetch.
func (c *selfCall) gitChanged(w *gitWork, files []string, args ...string) (changed string, known bool) {
	git, err := paths.Program("git", c.at.Root, w.dir)
	if err != nil || w.foreign != "" { // of another repository nothing is believed
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

// patches judges a patch that cannot be read.
func (c *selfCall) patches(cmd *shell.Command) {
	for _, f := range c.own.files {
		if losses.IsUnder(cmd.Dir, f) && exists(f) {
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
		p := posix.Absolute(cmd.Dir, w.Text)
		known = known && !w.Dynamic && p != ""
		inputs = append(inputs, p)
	}
	for i, w := range argv[1:] {
		switch {
		case shell.WordIn(w.Text, "--dry-run --check --stat --numstat --summary --abort --continue --skip --quit --help --version"):
			return nil, true
		case shell.WordIn(w.Text, "-i --input") && i+2 < len(argv):
			add(argv[i+2])
		case !strings.HasPrefix(w.Text, "-") && cmd.Name != "patch" && cmd.Name != "gpatch":
			add(w)
		}
	}
	if ps := operandPaths(cmd); strings.HasSuffix(cmd.Name, "patch") && len(ps) == 2 {
		files, inputs = ps[:1], ps[1:]
	}
	var text strings.Builder
	for _, r := range cmd.Redirects {
		if r.Op == "<" {
			add(r.Target)
		} else if here := r.Here(); here != "" {
			text.WriteString(here + "\n")
		}
	}
	for _, p := range inputs {
		t, ok := scriptText(p)
		known = known && ok
		text.WriteString(t + "\n")
	}
	for _, name := range toolfiles.PatchFiles(text.String()) {
		for at, more := strings.Trim(paths.Slash(name), `"`), true; more && at != ""; _, at, more = spell.Cut(at, "/") {
			if p := posix.Absolute(cmd.Dir, at); p != "" {
				files = append(files, p)
			}
		}
	}
	return files, known && text.Len() > 0
}

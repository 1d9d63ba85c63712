package shell

import (
	"slices"
	"strings"
)

func shGitReset(a *analysis, c *shCall, o *shOpts) {
	if o.has("--hard") || o.exact("--merge") {
		a.gitLoss(c, "reset-hard", o.operand(0))
	}
}

// shGitCheckout tells a switch, which refuses to lose work, from taking files
// back.
func shGitCheckout(a *analysis, c *shCall, o *shOpts) {
	paths := hasSeparator(c.argv)
	switch {
	case o.exact("-b", "-B", "--orphan", "-p", "--patch") && !o.exact("-f", "--force"):
		if o.exact("-B") {
			a.gitLoss(c, "reset-branch", o.operand(0))
		}
	case o.has("--force") || o.exact("-f"):
		a.gitLoss(c, "checkout-force", o.operand(0))
	case paths && len(o.operands) > 0 || o.exact("--ours", "--theirs", "--pathspec-from-file"):
		a.gitLoss(c, "discard-changes", o.operand(len(o.operands)-1))
	case len(o.operands) == 1 && isPathspec(o.operands[0]):
		a.gitLoss(c, "discard-changes", o.operand(0))
	case len(o.operands) > 1 && !o.exact("-t", "--track", "--detach", "-d"):
		a.gitLoss(c, "discard-changes", o.operand(1))
	}
}

// hasSeparator reports whether paths follow a `--`.
func hasSeparator(argv []Word) bool {
	i := slices.IndexFunc(argv, func(w Word) bool { return w.Is("--") })
	return i >= 0 && i < len(argv)-1
}

// isPathspec reports whether an operand of checkout is surely a path.
func isPathspec(w Word) bool {
	t := w.Text
	return t == "." || t == ".." || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "../") || strings.HasPrefix(t, ":/") || strings.HasPrefix(t, ":(") ||
		strings.HasPrefix(t, "/") || strings.HasSuffix(t, "/") || w.Pattern
}

func shGitSwitch(a *analysis, c *shCall, o *shOpts) {
	switch {
	case o.exact("-f") || o.has("--force", "--discard-changes") && !o.exact("--force-create"):
		a.gitLoss(c, "switch-force", o.operand(0))
	case o.exact("-C", "--force-create"):
		v, _ := o.value("-C", "--force-create")
		a.gitLoss(c, "reset-branch", v.Text)
	}
}

func shGitRestore(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-p", "--patch") || len(o.operands) == 0 && !o.exact("--pathspec-from-file") {
		return
	}
	if (o.exact("-S") || o.has("--staged")) && !o.exact("-W") && !o.has("--worktree") {
		return
	}
	a.gitLoss(c, "discard-changes", o.operand(0))
}

func shGitClean(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-n", "-i") || o.has("--dry-run", "--interactive") || !o.exact("-f") && !o.has("--force") {
		return
	}
	a.gitLoss(c, "clean", o.operand(0))
}

func shGitStash(a *analysis, c *shCall, o *shOpts) {
	if o.first("drop") || o.first("clear") {
		a.gitLoss(c, "stash-"+o.operand(0), o.operand(1))
	}
}

// shGitAdd notes that a file of secrets will be among what is pushed.
func shGitAdd(a *analysis, c *shCall, o *shOpts) {
	for _, w := range o.operands {
		if _, secret := a.placeIn(a.resolve(w, c.fr).text, c.fr); secret != "" && !o.exact("-n", "--dry-run") {
			a.added = secret
		}
	}
}

func shGitPush(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-n", "--dry-run") {
		return
	}
	if a.added != "" {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: o.operand(0), Secret: a.added})
	}
	if exec, ok := o.value("--receive-pack", "--exec"); ok {
		a.gitProgram(c, exec)
	}
	remote := o.operand(0)
	refs := o.operands[min(1, len(o.operands)):]
	switch {
	case o.exact("--mirror", "--prune"):
		a.gitLoss(c, "push-mirror", remote)
	case o.exact("-f", "--force", "--forc", "--for"):
		a.gitLoss(c, "push-force", refName(refs))
	case o.exact("-d", "--delete", "--del"):
		a.gitLoss(c, "push-delete", refName(refs))
	default:
		for _, r := range refs {
			if strings.HasPrefix(r.Text, "+") {
				a.gitLoss(c, "push-force", r.Text)
			}
			if strings.HasPrefix(r.Text, ":") && len(r.Text) > 1 {
				a.gitLoss(c, "push-delete", r.Text[1:])
			}
		}
	}
}

func refName(refs []Word) string {
	if len(refs) == 0 {
		return ""
	}
	return refs[0].Text
}

func shGitBranch(a *analysis, c *shCall, o *shOpts) {
	switch {
	case o.exact("-D") || (o.exact("-d") || o.has("--delete")) && (o.exact("-f") || o.has("--force")):
		a.gitLoss(c, "branch-delete", o.operand(0))
	case o.exact("-M"):
		a.gitLoss(c, "branch-overwrite", o.operand(len(o.operands)-1))
	}
}

func shGitTag(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-d", "--delete") {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainGit, Op: "tag-delete", Target: o.operand(0)})
	}
}

func shGitWorktree(a *analysis, c *shCall, o *shOpts) {
	if o.first("remove") && (o.exact("-f") || o.has("--force")) {
		a.gitLoss(c, "worktree-remove", o.operand(1))
	}
}

func shGitFilterBranch(a *analysis, c *shCall, o *shOpts) {
	a.gitLoss(c, "rewrite-history", o.operand(0))
	for _, v := range o.values("--env-filter", "--tree-filter", "--msg-filter", "--commit-filter") {
		a.interpret(c, v.value(), a.childShell(c), "git")
	}
}

func shGitReflog(a *analysis, c *shCall, o *shOpts) {
	if (o.first("expire") || o.first("delete")) && !o.exact("-n", "--dry-run") {
		a.gitLoss(c, "reflog-expire", o.operand(1))
	}
}

func shGitUpdateRef(a *analysis, c *shCall, o *shOpts) {
	switch {
	case o.exact("-d", "--delete"):
		a.gitLoss(c, "ref-delete", o.operand(0))
	case o.exact("--stdin") && strings.Contains(c.fr.stdin.value.text(), "delete "):
		a.gitLoss(c, "ref-delete", "stdin")
	}
}

func shGitSymbolicRef(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-d", "--delete") {
		a.gitLoss(c, "ref-delete", o.operand(0))
	}
}

func shGitReadTree(a *analysis, c *shCall, o *shOpts) {
	if o.exact("--reset") && o.exact("-u") || o.exact("--reset") {
		a.gitLoss(c, "discard-changes", o.operand(0))
	}
}

func shGitCheckoutIndex(a *analysis, c *shCall, o *shOpts) {
	if (o.exact("-f") || o.has("--force")) && !o.exact("--prefix") {
		a.gitLoss(c, "discard-changes", o.operand(0))
	}
}

func shGitGC(a *analysis, c *shCall, o *shOpts) {
	if v, ok := o.value("--prune"); ok && v.Is("now", "all") {
		a.gitLoss(c, "prune", "")
	}
}

func shGitPrune(a *analysis, c *shCall, o *shOpts) {
	if v, ok := o.value("--expire"); ok && v.Is("now", "all") && !o.exact("-n", "--dry-run") {
		a.gitLoss(c, "prune", "")
	}
}

func shGitRm(a *analysis, c *shCall, o *shOpts) {
	if o.exact("--cached", "-n", "--dry-run") {
		return
	}
	t := c.target("git-rm")
	t.recursive = o.exact("-r")
	for _, w := range o.operands {
		a.fileEffect(EffectDelete, w, t)
	}
}

func shGitMv(a *analysis, c *shCall, o *shOpts) {
	if len(o.operands) > 1 && !o.exact("-n", "--dry-run") {
		a.fileEffect(EffectWrite, o.operands[len(o.operands)-1], c.target("move"))
	}
}

func shGitRebase(a *analysis, c *shCall, o *shOpts) {
	for _, v := range o.values("-x", "--exec") {
		a.interpret(c, v.value(), a.childShell(c), "git")
	}
}

func shGitBisect(a *analysis, c *shCall, o *shOpts) {
	if o.first("run") {
		if i := slices.IndexFunc(c.argv, func(w Word) bool { return w.Is("run") }); i >= 0 {
			a.wrapped(c, c.argv[i+1:], c.fr)
		}
	}
}

func shGitSubmodule(a *analysis, c *shCall, o *shOpts) {
	i := slices.IndexFunc(c.argv, func(w Word) bool { return w.Is("foreach") })
	switch {
	case i >= 0:
		rest := c.argv[i+1:]
		for len(rest) > 0 && rest[0].Is("--recursive", "--quiet", "-q") {
			rest = rest[1:]
		}
		a.interpret(c, joinWords(rest), a.childShell(c), "git")
	case o.first("deinit") && o.exact("-f", "--force"):
		a.gitLoss(c, "discard-changes", o.operand(1))
	}
}

func shGitConfig(a *analysis, c *shCall, o *shOpts) {
	operands := o.operands
	if o.first("set") {
		operands = operands[1:]
	}
	if len(operands) < 2 || o.exact("--get", "--unset", "--get-all", "--get-regexp", "--list", "-l") {
		return
	}
	name := strings.ToLower(operands[0].Text)
	if strings.HasPrefix(name, "alias.") {
		a.gitSetting(c, name, operands[1])
	}
	if o.exact("--global", "--system") || name == "core.hookspath" {
		a.effect(c, Effect{Kind: EffectWrite, Domain: DomainGit, Op: "config", Target: name})
	}
}

func shGitRemote(a *analysis, c *shCall, o *shOpts) {
	if o.first("remove") || o.first("rm") {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainGit, Op: "remote-remove", Target: o.operand(1)})
	}
}

func shGitReplace(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-d", "-f", "--delete", "--force") {
		a.gitLoss(c, "replace", o.operand(0))
	}
}

func shGitNotes(a *analysis, c *shCall, o *shOpts) {
	if o.first("prune") && !o.exact("-n") {
		a.gitLoss(c, "notes-prune", "")
	}
}

func shGitOutput(a *analysis, c *shCall, o *shOpts) {
	for _, w := range o.operands {
		if _, file, ok := w.cut(":"); ok && file.Text != "" { // REV:path
			w = file
		}
		if _, secret := a.placeIn(a.resolve(w, c.fr).text, c.fr); secret != "" {
			a.fileEffect(EffectRead, w, c.target("read"))
		}
	}
	if v, ok := o.value("--output", "-o"); ok {
		a.fileEffect(EffectWrite, v, c.target("write"))
	}
	if v, ok := o.value("--exec"); ok {
		a.gitProgram(c, v)
	}
}

func shGitFetch(a *analysis, c *shCall, o *shOpts) {
	if v, ok := o.value("--upload-pack", "-u"); ok {
		a.gitProgram(c, v)
	}
	for _, v := range o.values("-c", "--config") {
		if name, value, ok := v.cut("="); ok {
			a.gitSetting(c, strings.ToLower(name), value)
		}
	}
	for _, w := range o.operands {
		if code, ok := strings.CutPrefix(w.Text, "ext::"); ok {
			a.interpret(c, shLiteral(strings.ReplaceAll(code, "% ", " ")), a.childShell(c), "git")
		}
	}
}

func shGitGrep(a *analysis, c *shCall, o *shOpts) {
	if v, ok := o.value("-O", "--open-files-in-pager"); ok {
		a.gitProgram(c, v)
	}
}

func shGitLfs(a *analysis, c *shCall, o *shOpts) {
	if o.first("prune") && o.exact("-f", "--force") {
		a.gitLoss(c, "lfs-prune", "")
	}
}

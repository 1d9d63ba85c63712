package shell

import (
	"slices"
	"strings"
)

// gitCheckout tells a switch, which refuses to lose work, from taking files
// back.
func gitCheckout(a *analysis, c *shCall, o *shOpts) {
	switch i := separatorAt(c.argv); {
	case o.exact("-b", "-B", "--orphan", "-p", "--patch", "-f") || o.has("--force"):
	case i >= 0 && i < len(c.argv)-1 && len(o.operands) > 0, o.exact("--ours", "--theirs", "--pathspec-from-file"):
		a.gitLoss(c, "discard-changes", o.operand(len(o.operands)-1))
	case len(o.operands) == 1 && isPathspec(o.operands[0]):
		a.gitLoss(c, "discard-changes", o.operand(0))
	case len(o.operands) > 1 && !o.exact("-t", "--track", "--detach", "-d"):
		a.gitLoss(c, "discard-changes", o.operand(1))
	}
}

// isPathspec reports whether an operand of checkout is surely a path.
func isPathspec(w Word) bool {
	t := w.Text
	return w.Pattern || t == "." || t == ".." || strings.HasSuffix(t, "/") ||
		slices.ContainsFunc([]string{"./", "../", ":/", ":(", "/"}, func(p string) bool { return strings.HasPrefix(t, p) })
}

func gitBranch(a *analysis, c *shCall, o *shOpts) {
	if (o.exact("-d") || o.has("--delete")) && (o.exact("-f") || o.has("--force")) {
		a.gitLoss(c, "branch-delete", o.operand(0))
	}
}

// gitAdd notes that a file of secrets will be among what is pushed.
func gitAdd(a *analysis, c *shCall, o *shOpts) {
	for _, w := range o.operands {
		if _, secret := a.placeIn(a.resolve(w, c.fr).text, c.fr); secret != "" && !o.exact("-n", "--dry-run") {
			a.added = secret
		}
	}
}

func gitPush(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-n", "--dry-run") {
		return
	}
	if a.added != "" {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: o.operand(0), Secret: a.added})
	}
	for _, r := range o.operands[min(1, len(o.operands)):] {
		if strings.HasPrefix(r.Text, "+") {
			a.gitLoss(c, "push-force", r.Text)
		}
		if strings.HasPrefix(r.Text, ":") && len(r.Text) > 1 {
			a.gitLoss(c, "push-delete", r.Text[1:])
		}
	}
}

func gitFilterBranch(a *analysis, c *shCall, o *shOpts) {
	for _, v := range o.values("--env-filter", "--tree-filter", "--msg-filter", "--commit-filter") {
		a.interpret(c, v.value(), a.childShell(c), "git")
	}
}

func gitUpdateRef(a *analysis, c *shCall, o *shOpts) {
	if o.exact("--stdin") && strings.Contains(c.fr.stdin.value.text(), "delete ") {
		a.gitLoss(c, "ref-delete", "stdin")
	}
}

func gitRm(a *analysis, c *shCall, o *shOpts) {
	t := c.target("git-rm")
	t.recursive = o.exact("-r")
	for _, w := range o.operands {
		if !o.exact("--cached", "-n", "--dry-run") {
			a.fileEffect(EffectDelete, w, t)
		}
	}
}

func gitMv(a *analysis, c *shCall, o *shOpts) {
	if len(o.operands) > 1 && !o.exact("-n", "--dry-run") {
		a.fileEffect(EffectWrite, o.operands[len(o.operands)-1], c.target("move"))
	}
}

func gitBisect(a *analysis, c *shCall, o *shOpts) {
	if i := slices.IndexFunc(c.argv, func(w Word) bool { return w.Is("run") }); i >= 0 && o.first("run") {
		a.wrapped(c, c.argv[i+1:], c.fr)
	}
}

func gitSubmodule(a *analysis, c *shCall, _ *shOpts) {
	if i := slices.IndexFunc(c.argv, func(w Word) bool { return w.Is("foreach") }); i >= 0 {
		rest := c.argv[i+1:]
		for len(rest) > 0 && rest[0].Is("--recursive", "--quiet", "-q") {
			rest = rest[1:]
		}
		a.interpret(c, joinWords(rest), a.childShell(c), "git")
	}
}

func gitConfig(a *analysis, c *shCall, o *shOpts) {
	operands := o.operands
	if o.first("set") {
		operands = operands[1:]
	}
	if len(operands) < 2 || o.exact("--get", "--unset", "--get-all", "--get-regexp", "--list", "-l") {
		return
	}
	name := strings.ToLower(operands[0].Text)
	if strings.HasPrefix(name, "alias.") || name == "core.hookspath" {
		a.gitSetting(c, name, operands[1])
	}
	if o.exact("--global", "--system") || name == "core.hookspath" {
		a.effect(c, Effect{Kind: EffectWrite, Domain: DomainGit, Op: "config", Target: name})
	}
}

func gitOutput(a *analysis, c *shCall, o *shOpts) {
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
}

func gitFetch(a *analysis, c *shCall, o *shOpts) {
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

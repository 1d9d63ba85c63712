package builtins

import (
	"slices"
	"strings"
)

func init() { programs((*analysis).git, "git hub yadm dotfiles") }

// gitCommand reads one command of git from its options and operands.
type gitCommand struct {
	// short and long are the options that take a value.
	short, long string
	read        func(a *analysis, c *shCall, o *shOpts)
}

var gitCommands map[string]gitCommand

func init() {
	gitCommands = map[string]gitCommand{
		"reset":           {"U", "--pathspec-from-file", shGitReset},
		"checkout":        {"bBU", "--orphan --conflict --pathspec-from-file", shGitCheckout},
		"switch":          {"cC", "--create --force-create --orphan --conflict", shGitSwitch},
		"restore":         {"sU", "--source --conflict --pathspec-from-file", shGitRestore},
		"clean":           {"e", "--exclude", shGitClean},
		"stash":           {"m", "--message", shGitStash},
		"push":            {"o", "--repo --push-option --receive-pack --exec", shGitPush},
		"branch":          {"u", "--set-upstream-to --sort --format --contains --merged --no-merged", shGitBranch},
		"tag":             {"mFu", "--message --file --sort --format --contains", shGitTag},
		"worktree":        {"bB", "--reason", shGitWorktree},
		"filter-branch":   {"", "--env-filter --tree-filter --index-filter --msg-filter --commit-filter --tag-name-filter --parent-filter --subdirectory-filter", shGitFilterBranch},
		"filter-repo":     {"", "--path --path-glob --replace-text", shGitAlways("rewrite-history")},
		"reflog":          {"", "", shGitReflog},
		"update-ref":      {"m", "", shGitUpdateRef},
		"symbolic-ref":    {"m", "", shGitSymbolicRef},
		"read-tree":       {"", "--prefix --index-output", shGitReadTree},
		"checkout-index":  {"", "--prefix --stage", shGitCheckoutIndex},
		"gc":              {"", "", shGitGC},
		"prune":           {"", "--expire", shGitPrune},
		"rm":              {"", "--pathspec-from-file", shGitRm},
		"mv":              {"", "", shGitMv},
		"rebase":          {"xsX", "--exec --onto --strategy", shGitRebase},
		"bisect":          {"", "", shGitBisect},
		"submodule":       {"b", "--branch --reference --name", shGitSubmodule},
		"config":          {"ft", "--file --type --default", shGitConfig},
		"remote":          {"tm", "", shGitRemote},
		"replace":         {"", "", shGitReplace},
		"notes":           {"mFcC", "--ref", shGitNotes},
		"archive":         {"o", "--output --format --prefix --remote --exec", shGitOutput},
		"diff":            {"UOSGl", "--output", shGitOutput},
		"log":             {"nSGLU", "--output --grep --author --since --until --format --pretty", shGitOutput},
		"show":            {"", "--output --format --pretty", shGitOutput},
		"format-patch":    {"o", "--output-directory --output", shGitOutput},
		"clone":           {"bocjus", "--branch --depth --origin --config --upload-pack --reference --template", shGitFetch},
		"fetch":           {"joc", "--upload-pack --depth --refmap", shGitFetch},
		"pull":            {"sX", "--upload-pack --strategy --depth", shGitFetch},
		"ls-remote":       {"o", "--upload-pack", shGitFetch},
		"grep":            {"efO", "--open-files-in-pager --max-depth", shGitGrep},
		"lfs":             {"", "", shGitLfs},
		"sparse-checkout": {"", "", shGitNothing},
	}
}

func shGitNothing(*analysis, *shCall, *shOpts) {}

// git reads its options before the command, aliases, and the command.
func (a *analysis) git(c *shCall) shValue {
	o := options(c.args(), "Cc", "-C -c --git-dir --work-tree --namespace --super-prefix --exec-path --config-env --attr-source", optStop)
	fr := *c.fr
	for _, dir := range o.values("-C") {
		sub := fr.subshell()
		a.moveTo(dir, sub)
		fr = *sub
	}
	if dir, ok := o.value("--work-tree"); ok {
		sub := fr.subshell()
		a.moveTo(dir, sub)
		fr = *sub
	}
	in := *c
	in.fr = &fr
	a.gitSettings(&in, &o)
	if len(o.operands) == 0 {
		return printsText(a, c)
	}
	sub, ok := o.operands[0].known()
	if !ok || o.operands[0].Pattern {
		a.effect(c, ShellEffect{Kind: EffectUnknown, Domain: DomainGit, Op: shellDynamicName, Target: "git " + sub, Certainty: CertainDynamic})
		return printsText(a, c)
	}
	if cmd, ok := gitCommands[sub]; ok {
		parsed := options(o.operands[1:], cmd.short, cmd.long, 0)
		parsed.operands = slices.Clip(parsed.operands)
		if parsed.exact("--help", "-h") && sub != "clean" && sub != "grep" {
			return printsText(a, c)
		}
		cmd.read(a, &in, &parsed)
		return a.gitPrints(&in, sub, &parsed)
	}
	if code, ok := fr.st.gitAliases.get(sub); ok && !slices.Contains(fr.via, "git alias "+sub) {
		a.gitAlias(&in, sub, code, o.operands[1:])
	}
	return a.gitPrints(&in, sub, &o)
}

// gitSettings notes what -c says: aliases, and programs that git starts.
func (a *analysis) gitSettings(c *shCall, o *shOpts) {
	for _, v := range o.values("-c") {
		if name, value, ok := v.cut("="); ok {
			a.gitSetting(c, strings.ToLower(name), value)
		}
	}
	for _, e := range c.env {
		switch e.Name {
		case "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS":
			a.gitProgram(c, e.Value)
		}
	}
}

func (a *analysis) gitSetting(c *shCall, name string, value ShellWord) {
	if alias, ok := strings.CutPrefix(name, "alias."); ok {
		st := c.fr.st
		st.gitAliases = st.gitAliases.put(alias, value.value())
		return
	}
	switch name {
	case "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "sequence.editor", "diff.external", "core.askpass", "credential.helper":
		a.gitProgram(c, value)
	}
}

// gitProgram is a command line that git starts.
func (a *analysis) gitProgram(c *shCall, value ShellWord) {
	text := strings.TrimPrefix(value.Text, "!")
	if text == "" || text == "true" || text == "false" || strings.Trim(text, plainWord) == "" && !strings.ContainsAny(text, "/ ") {
		return
	}
	a.interpret(c, shLiteral(text), a.childShell(c), "git")
}

func (a *analysis) gitAlias(c *shCall, name string, code shValue, args []ShellWord) {
	text := code.text()
	rest := append(shValue{{text: " "}}, quoteWords(args)...)
	if strings.HasPrefix(text, "!") {
		a.interpret(c, append(code.word().after(1).value(), rest...), a.childShell(c), "git alias "+name)
		return
	}
	a.interpret(c, append(append(shLiteral("git "), code...), rest...), a.childShell(c), "git alias "+name)
}

// gitPrints is what a command prints, where that tells something.
func (a *analysis) gitPrints(c *shCall, sub string, o *shOpts) shValue {
	switch {
	case sub == "rev-parse" && slices.ContainsFunc(c.argv, func(w ShellWord) bool { return w.is("--show-toplevel") }):
		if dir := a.dir(c.fr.st); a.at.Root != "" && c.fr.host == "" && dir != "" && isUnder(a.at.Root, dir) {
			return shLiteral(a.at.Root + "\n")
		}
		return shUnknown("$(git rev-parse --show-toplevel)", shOrigin{"toplevel", "git"})
	case sub == "rev-parse" || sub == "describe" || sub == "rev-list" || sub == "merge-base":
		return shValue{{text: "$(git " + sub + ")", kind: shPlain}}
	}
	return shUnknown("$(git "+sub+")", shOrigin{kind: "output", from: "git"})
}

// gitLoss is an effect that loses history or work.
func (a *analysis) gitLoss(c *shCall, op, target string) {
	e := ShellEffect{Kind: EffectGitHistory, Domain: DomainGit, Op: op, Target: target}
	if dir := a.dir(c.fr.st); dir != "" {
		e.Place, _ = a.placeIn(dir, c.fr)
	} else {
		e.Place = PlaceUnknown
	}
	a.effect(c, e)
}

func shGitAlways(op string) func(*analysis, *shCall, *shOpts) {
	return func(a *analysis, c *shCall, o *shOpts) {
		if !o.exact("--dry-run", "--analyze") {
			a.gitLoss(c, op, o.operand(0))
		}
	}
}

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
func hasSeparator(argv []ShellWord) bool {
	i := slices.IndexFunc(argv, func(w ShellWord) bool { return w.is("--") })
	return i >= 0 && i < len(argv)-1
}

// isPathspec reports whether an operand of checkout is surely a path.
func isPathspec(w ShellWord) bool {
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

func shGitPush(a *analysis, c *shCall, o *shOpts) {
	if o.exact("-n", "--dry-run") {
		return
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

func refName(refs []ShellWord) string {
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
		a.effect(c, ShellEffect{Kind: EffectDelete, Domain: DomainGit, Op: "tag-delete", Target: o.operand(0)})
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
	if v, ok := o.value("--prune"); ok && v.is("now", "all") {
		a.gitLoss(c, "prune", "")
	}
}

func shGitPrune(a *analysis, c *shCall, o *shOpts) {
	if v, ok := o.value("--expire"); ok && v.is("now", "all") && !o.exact("-n", "--dry-run") {
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
		if i := slices.IndexFunc(c.argv, func(w ShellWord) bool { return w.is("run") }); i >= 0 {
			a.wrapped(c, c.argv[i+1:], c.fr)
		}
	}
}

func shGitSubmodule(a *analysis, c *shCall, o *shOpts) {
	i := slices.IndexFunc(c.argv, func(w ShellWord) bool { return w.is("foreach") })
	switch {
	case i >= 0:
		rest := c.argv[i+1:]
		for len(rest) > 0 && rest[0].is("--recursive", "--quiet", "-q") {
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
		a.effect(c, ShellEffect{Kind: EffectWrite, Domain: DomainGit, Op: "config", Target: name})
	}
}

func shGitRemote(a *analysis, c *shCall, o *shOpts) {
	if o.first("remove") || o.first("rm") {
		a.effect(c, ShellEffect{Kind: EffectDelete, Domain: DomainGit, Op: "remote-remove", Target: o.operand(1)})
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

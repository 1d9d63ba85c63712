package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// gitReads reads what the rules do not say of a command of git; false for one of which they say all.
func (a *analysis) gitReads(c *shCall, sub string, o *shOpts) bool {
	dry := o.exact("-n", "--dry-run")
	switch sub {
	case "checkout":
		a.gitCheckout(c, o)
	case "branch":
		if (o.exact("-d") || o.has("--delete")) && (o.exact("-f") || o.has("--force")) {
			a.gitLoss(c, "branch-delete", o.operand(0))
		}
	case "add", "stage", "commit": // a file of secrets will be among what is pushed
		for _, w := range o.operands {
			v, _ := a.written(w, c.fr)
			if secret := lists.First(a.given(c, w), a.secretOf(v)); secret != "" && (!dry || sub == "commit") {
				a.added = secret
			}
		}
	case "push":
		a.gitPush(c, o)
	case "filter-branch":
		a.runAll(c, o.values("--env-filter", "--tree-filter", "--msg-filter", "--commit-filter"))
	case "update-ref":
		if o.exact("--stdin") && strings.Contains(c.fr.stdin.value.text(), "delete ") {
			a.gitLoss(c, "ref-delete", "stdin")
		}
	case "rm":
		t := c.target("git-rm")
		t.recursive = o.exact("-r")
		if !dry && !o.exact("--cached") {
			a.files(EffectDelete, t, o.operands...)
		}
	case "mv":
		if len(o.operands) > 1 && !dry {
			a.fileEffect(EffectWrite, o.operands[len(o.operands)-1], c.target("move"))
		}
	case "bisect":
		if i := slices.IndexFunc(c.argv, func(w Word) bool { return w.Is("run") }); i >= 0 && o.first("run") {
			a.wrapped(c, c.argv[i+1:], c.fr)
		}
	case "submodule":
		if i := slices.IndexFunc(c.argv, func(w Word) bool { return w.Is("foreach") }); i >= 0 {
			a.interpret(c, joinWords(lists.Without(c.argv[i+1:], func(w *Word) bool { return w.Is("--recursive", "--quiet", "-q") })), a.childShell(c), "git")
		}
	case "config":
		a.gitConfig(c, o)
	case "clone", "fetch", "pull", "ls-remote":
		a.gitSettings(c, o.values("-c", "--config"))
		if sub == "clone" && len(o.operands) > 1 {
			a.fileEffect(EffectWrite, o.operands[1], c.target("create"))
		}
		for _, w := range o.operands {
			if code, ok := spell.CutPrefix(w.Text, "ext::"); ok {
				a.interpret(c, shLiteral(strings.ReplaceAll(code, "% ", " ")), a.childShell(c), "git")
			}
		}
	case "grep":
		if o.operands = o.operands[min(1, len(o.operands)):]; !o.exact("-q", "-c", "-l", "-L", "--quiet", "--count", "--files-with-matches") {
			a.gitOutput(c, o)
		}
	case "archive", "diff", "log", "show", "format-patch", "blame", "cat-file":
		if sub != "log" || o.exact(strings.Fields(gitPatch)...) {
			a.gitOutput(c, o)
		}
	default:
		return false
	}
	return true
}

// gitCheckout tells a switch, which refuses to lose work, from taking files back.
func (a *analysis) gitCheckout(c *shCall, o *shOpts) {
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
	return w.Pattern || t == "." || losses.SourceExtensions()[strings.TrimPrefix(path.Ext(t), ".")] || strings.HasSuffix(t, ".md") || t == ".." || strings.HasSuffix(t, "/") ||
		slices.ContainsFunc([]string{"./", "../", ":/", ":(", "/"}, func(p string) bool { return strings.HasPrefix(t, p) })
}

func (a *analysis) gitPush(c *shCall, o *shOpts) {
	if o.exact("-n", "--dry-run") {
		return
	}
	if a.added != "" {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: o.operand(0), Secret: a.added})
	}
	for _, r := range o.operands[min(1, len(o.operands)):] {
		branch := r.Text[strings.LastIndexAny(r.Text, ":/")+1:]
		if strings.HasPrefix(r.Text, "+") || o.exact("--force-with-lease") && WordIn(branch, "main master trunk develop production release") {
			a.gitLoss(c, "push-force", r.Text)
		}
		if strings.HasPrefix(r.Text, ":") && len(r.Text) > 1 || r.Dynamic && strings.HasPrefix(r.Text, "$(") && lists.Has(c.fr.via, "xargs") {
			a.gitLoss(c, "push-delete", r.Text[1:])
		}
	}
}

func (a *analysis) gitConfig(c *shCall, o *shOpts) {
	operands := o.operands
	if o.first("set") {
		operands = operands[1:]
	}
	if len(operands) < 2 || o.exact("--get", "--unset", "--get-all", "--get-regexp", "--list", "-l") {
		return
	}
	name := strings.ToLower(operands[0].Text)
	a.gitSetting(c, name, operands[1])
	if losses.TakesOff(name + "=" + operands[1].Text) {
		a.does(c, EffectWrite, DomainGit, "hooks-off", name)
	}
	if o.exact("--global", "--system") || name == "core.hookspath" {
		a.does(c, EffectWrite, DomainGit, "config", name)
	}
}

// gitPatch are the options with which git log shows what is in files.
const gitPatch = "-p -u --patch -U --unified -L -G -S -c --cc --dd -m --remerge-diff --patch-with-stat --patch-with-raw --binary --full-diff --output"

func (a *analysis) gitOutput(c *shCall, o *shOpts) {
	names := o.exact("--stat", "--name-only", "--name-status", "--shortstat", "--numstat", "--summary", "--quiet", "-s", "--no-patch")
	for _, w := range lists.Concat(o.operands, o.values("-L")) {
		if names && !o.exact("-p", "-u", "--patch", "-U", "--unified") {
			break // no text of the files
		}
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
